"""Words that generated products are made of: 24 kinds of product in WebShop's five departments."""

from __future__ import annotations

from dataclasses import dataclass

Groups = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Line:
    """A kind of product.

    Attributes:
        department: one of beauty, electronics, fashion, garden, grocery.
        query: what people search for to find it.
        tree: its place in the shop's tree.
        nouns: names it goes by in titles.
        uses: what it is for, in titles and descriptions.
        attributes: what may be said of it.
        options: groups a product may offer, with all values there are.
        prices: lowest and highest, in dollars.
    """

    department: str
    query: str
    tree: tuple[str, ...]
    nouns: tuple[str, ...]
    uses: tuple[str, ...]
    attributes: tuple[str, ...]
    options: Groups
    prices: tuple[float, float]


_BRANDS = (
    "Norvale Tessbrook Quillmark Ferrowen Halcyra Brindlow Castorix Dunmere Elvanto Fennimor "
    "Garrowby Hestrum Ivarsen Jostlund Kelvara Lumbrick Mossgate Nextrel Orrinda Pellwick"
)
BRANDS = tuple(_BRANDS.split())

_ADJECTIVES = (
    "Classic Modern Premium Everyday Compact Deluxe Essential Original Signature Lightweight "
    "Natural Professional"
)
ADJECTIVES = tuple(_ADJECTIVES.split())

_COLOURS = (
    "black white navy blue red grey pink green beige brown purple teal ivory gold silver charcoal"
)
COLOUR_NAMES = tuple(_COLOURS.split())

SIZES = ("x-small", "small", "medium", "large", "x-large", "xx-large")
SHOE_SIZES = ("6", "6.5", "7", "7.5", "8", "8.5", "9", "10", "11 wide")
PACKS = ("pack of 1", "pack of 2", "pack of 3", "pack of 6", "12 count (pack of 1)")

_COLOUR = ("color", COLOUR_NAMES)
_SIZE = ("size", SIZES)
_SHOE = ("size", SHOE_SIZES)
_PACK = ("size", PACKS)


def _line(
    department: str,
    query: str,
    tree: str,
    nouns: str,
    uses: str,
    attributes: str,
    options: Groups,
    prices: tuple[float, float],
) -> Line:
    """Read a line whose lists are written with commas."""
    places = tuple(tree.split(" > "))
    named, used, said = (tuple(text.split(", ")) for text in (nouns, uses, attributes))
    return Line(department, query, places, named, used, said, options, prices)


_CLOTHES = "machine wash, long lasting, easy care, quality materials, daily wear"
_FOOD = "gluten free, non gmo, artificial colors, sugar free, low sodium, kosher certified"
_HOME = "easy assemble, easy clean, living room, solid wood, space saving, high density"
_TECH = "easy use, fast charging, high speed, plug play, long lasting, light weight"
_CARE = "cruelty free, paraben free, sulfate free, long lasting, sensitive skin, easy use"

LINES = (
    _line(
        "fashion",
        "men's running shoes",
        "Clothing, Shoes & Jewelry > Men > Shoes > Athletic > Running",
        "Running Shoes, Training Sneakers",
        "Road Running, the Gym, Long Walks",
        f"rubber sole, slip resistant, memory foam, arch support, {_CLOTHES}",
        (_COLOUR, _SHOE),
        (29.0, 120.0),
    ),
    _line(
        "fashion",
        "women's ankle boots",
        "Clothing, Shoes & Jewelry > Women > Shoes > Boots > Ankle & Bootie",
        "Ankle Boots, Chelsea Booties",
        "Winter Days, Office Wear, Evenings Out",
        f"rubber outsole, faux leather, side zipper, slip resistant, {_CLOTHES}",
        (_COLOUR, _SHOE),
        (35.0, 140.0),
    ),
    _line(
        "fashion",
        "women's dresses",
        "Clothing, Shoes & Jewelry > Women > Clothing > Dresses > Casual",
        "Summer Dress, Midi Dress, Wrap Dress",
        "Beach Holidays, Parties, Work",
        f"short sleeve, elastic waist, polyester spandex, hand wash, {_CLOTHES}",
        (_COLOUR, _SIZE),
        (18.0, 70.0),
    ),
    _line(
        "fashion",
        "men's t-shirts",
        "Clothing, Shoes & Jewelry > Men > Clothing > Shirts > T-Shirts",
        "Crewneck T-Shirt, Pocket Tee",
        "Sports, Leisure, Layering",
        f"short sleeve, cotton spandex, classic fit, moisture wicking, {_CLOTHES}",
        (_COLOUR, _SIZE, ("fit type", ("regular", "slim", "big & tall"))),
        (9.0, 35.0),
    ),
    _line(
        "fashion",
        "women's leggings",
        "Clothing, Shoes & Jewelry > Women > Clothing > Active > Leggings",
        "Yoga Leggings, Workout Tights",
        "Yoga, Running, Pilates",
        f"high waist, tummy control, nylon spandex, quick drying, {_CLOTHES}",
        (_COLOUR, _SIZE),
        (15.0, 60.0),
    ),
    _line(
        "beauty",
        "shampoo & conditioner",
        "Beauty & Personal Care > Hair Care > Shampoo & Conditioner > Shampoos",
        "Argan Shampoo, Coconut Shampoo, Shampoo",
        "Dry Hair, Damaged Hair, Fine Hair",
        f"hair growth, natural ingredients, coconut oil, dry hair, {_CARE}",
        (("scent", ("lavender", "citrus", "mint", "unscented")), _PACK),
        (7.0, 32.0),
    ),
    _line(
        "beauty",
        "lipstick",
        "Beauty & Personal Care > Makeup > Lips > Lipstick",
        "Matte Lipstick, Liquid Lipstick",
        "Everyday Makeup, Weddings, Evenings",
        f"highly pigmented, hyaluronic acid, oil free, non toxic, {_CARE}",
        (("color", ("ruby red", "nude rose", "plum wine", "coral peach", "mauve")),),
        (5.0, 28.0),
    ),
    _line(
        "beauty",
        "face moisturizers",
        "Beauty & Personal Care > Skin Care > Face > Creams & Moisturizers",
        "Face Cream, Night Cream, Moisturizer",
        "Dry Skin, Oily Skin, Mature Skin",
        f"anti aging, fragrance free, dermatologist tested, fine lines, {_CARE}",
        (("size", ("1 fl oz", "1.7 fl oz", "3.4 fl oz")),),
        (9.0, 60.0),
    ),
    _line(
        "beauty",
        "toothbrushes & accessories",
        "Beauty & Personal Care > Oral Care > Toothbrushes & Accessories",
        "Bamboo Toothbrush, Electric Toothbrush",
        "Adults, Children, Travel",
        f"teeth whitening, eco friendly, bpa free, oral hygiene, {_CARE}",
        (_COLOUR, _PACK),
        (4.0, 55.0),
    ),
    _line(
        "beauty",
        "hair brushes",
        "Beauty & Personal Care > Hair Care > Styling Tools > Hair Brushes",
        "Detangling Brush, Boar Bristle Brush",
        "Curly Hair, Thick Hair, Wet Hair",
        f"hair styling, hair salon, non slip, natural hair, {_CARE}",
        (_COLOUR, _PACK),
        (6.0, 26.0),
    ),
    _line(
        "electronics",
        "headphones",
        "Electronics > Headphones > Over-Ear Headphones",
        "Wireless Headphones, Bluetooth Headset",
        "Travel, Calls, Gaming",
        f"noise cancelling, hands free, stereo sound, wireless bluetooth, {_TECH}",
        (_COLOUR, ("style", ("on-ear", "over-ear"))),
        (19.0, 230.0),
    ),
    _line(
        "electronics",
        "usb cables",
        "Electronics > Accessories > Cables & Interconnects > USB Cables",
        "USB C Cable, Charging Cable",
        "Phones, Tablets, Laptops",
        f"gold plated, aluminum alloy, usb port, heavy duty, {_TECH}",
        (_COLOUR, ("size", ("3ft", "6ft", "10ft"))),
        (5.0, 25.0),
    ),
    _line(
        "electronics",
        "tablet cases",
        "Electronics > Computers & Accessories > Tablet Accessories > Cases",
        "Tablet Case, Folio Cover",
        "Students, Travel, Kids",
        f"case cover, wireless charging, tempered glass, shock proof, {_TECH}",
        (_COLOUR, ("size", ("8 inch", "10.2 inch", "11 inch"))),
        (9.0, 48.0),
    ),
    _line(
        "electronics",
        "digital cameras",
        "Electronics > Camera & Photo > Digital Cameras > Point & Shoot",
        "Digital Camera, Compact Camera",
        "Beginners, Vlogging, Holidays",
        f"optical zoom, high resolution, batteries included, carrying case, {_TECH}",
        (_COLOUR, ("style", ("camera only", "with tripod"))),
        (60.0, 480.0),
    ),
    _line(
        "electronics",
        "portable speakers",
        "Electronics > Portable Audio & Video > Portable Speakers & Docks",
        "Portable Speaker, Shower Speaker",
        "Parties, the Garden, the Beach",
        f"wireless bluetooth, stereo sound, water resistant, usb port, {_TECH}",
        (_COLOUR,),
        (15.0, 150.0),
    ),
    _line(
        "garden",
        "sofas & couches",
        "Home & Kitchen > Furniture > Living Room Furniture > Sofas & Couches",
        "Sectional Sofa, Loveseat, Sleeper Sofa",
        "Small Apartments, Family Rooms, Offices",
        f"mid century, faux leather, wood frame, button tufted, {_HOME}",
        (_COLOUR, ("size", ("2 seater", "3 seater", "l-shaped"))),
        (189.0, 960.0),
    ),
    _line(
        "garden",
        "table lamps",
        "Tools & Home Improvement > Lighting & Ceiling Fans > Lamps > Table Lamps",
        "Table Lamp, Bedside Lamp, Desk Lamp",
        "the Bedroom, Reading, the Office",
        f"glass shade, brushed nickel, energy efficient, usb port, {_HOME}",
        (_COLOUR, ("size", ("set of 1", "set of 2"))),
        (17.0, 130.0),
    ),
    _line(
        "garden",
        "area rugs",
        "Home & Kitchen > Home Décor Products > Rugs, Pads & Protectors > Area Rugs",
        "Area Rug, Runner Rug, Shag Rug",
        "the Hallway, the Nursery, the Dining Room",
        f"non slip, machine washable, spot clean, dining room, {_HOME}",
        (_COLOUR, ("size", ("2 x 3 ft", "4 x 6 ft", "5 x 8 ft", "8 x 10 ft"))),
        (22.0, 320.0),
    ),
    _line(
        "garden",
        "bookcases",
        "Home & Kitchen > Furniture > Home Office Furniture > Bookcases",
        "Ladder Bookcase, Corner Bookshelf",
        "Plants, the Study, Display",
        f"storage space, steel frame, heavy duty, wall mounted, {_HOME}",
        (_COLOUR, ("size", ("3 tier", "4 tier", "5 tier"))),
        (39.0, 280.0),
    ),
    _line(
        "garden",
        "window curtains",
        "Home & Kitchen > Home Décor Products > Window Treatments > Curtains & Drapes",
        "Blackout Curtains, Sheer Curtains",
        "the Bedroom, the Nursery, Large Windows",
        f"super soft, machine washable, eco friendly, printing technology, {_HOME}",
        (_COLOUR, ("size", ("42 x 63 in", "52 x 84 in", "52 x 96 in"))),
        (14.0, 90.0),
    ),
    _line(
        "grocery",
        "ground coffee",
        "Grocery & Gourmet Food > Beverages > Coffee > Ground Coffee",
        "Ground Coffee, Espresso Roast",
        "French Press, Cold Brew, Mornings",
        f"usda organic, fair trade, caffeine free, rich flavor, {_FOOD}",
        (("flavor name", ("dark roast", "medium roast", "vanilla", "hazelnut")), _PACK),
        (6.0, 42.0),
    ),
    _line(
        "grocery",
        "snack bars",
        "Grocery & Gourmet Food > Snack Foods > Bars > Granola Bars",
        "Granola Bars, Protein Bars",
        "Hiking, Lunch Boxes, Breakfast",
        f"individually wrapped, high protein, plant based, nut free, {_FOOD}",
        (
            ("flavor name", ("peanut butter", "chocolate", "blueberry", "apple cinnamon")),
            _PACK,
        ),
        (7.0, 38.0),
    ),
    _line(
        "grocery",
        "green tea",
        "Grocery & Gourmet Food > Beverages > Tea > Green",
        "Green Tea, Matcha Powder",
        "Afternoons, Iced Tea, Gifts",
        f"usda organic, natural flavors, dairy free, easy use, {_FOOD}",
        (("flavor name", ("jasmine", "lemon", "ginger", "original")), _PACK),
        (5.0, 30.0),
    ),
    _line(
        "grocery",
        "dried fruits & raisins",
        "Grocery & Gourmet Food > Produce > Dried Fruits & Vegetables > Dried Fruits",
        "Dried Mango, Dried Apricots, Raisins",
        "Baking, Trail Mix, Snacking",
        f"dietary fiber, freeze dried, no added sugar, ready eat, {_FOOD}",
        (("flavor name", ("original", "chili", "coconut")), _PACK),
        (6.0, 34.0),
    ),
)
