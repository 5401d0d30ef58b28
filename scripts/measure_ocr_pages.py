"""Measures readers of whole pages on generated receipts in fonts that the shipped recogniser has not seen.

    scripts/install_fonts.sh fonts
    COURSEPKG_FONTS=fonts .venv/bin/python scripts/measure_ocr_pages.py --out book/_data/ocr

It needs the extra `ocr`. pages.json is written: bag-of-words F1, precision, recall and seconds a page of this project's
pipeline and of rapidocr's own. The fonts are the held-out families (`synthetic/families.py`).
"""

import argparse

from ocr_measurement import add_threads, conditions, held_out_faces, parser_of

from coursepkg.bench.machine import Device
from coursepkg.files import write_json
from coursepkg.projects.ocr.page.compare import compare_pages
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.synthetic.receipts import make_receipt

SEED = 7


def options() -> argparse.Namespace:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--pages", type=int, default=24, help="generated receipts")
    add_threads(parser)
    return parser.parse_args()


def main() -> None:
    chosen = options()
    faces = held_out_faces()
    receipts = [
        make_receipt(SEED, number, faces=faces) for number in range(chosen.pages)
    ]
    pages = [
        (receipt.image, "\n".join(line.text for line in receipt.lines))
        for receipt in receipts
    ]
    machine = Device("cpu", chosen.threads)
    scores = compare_pages(pages, threads=machine.threads)
    for found in scores.values():
        print(found)
    document = {
        "schema": "coursepkg.ocr.pages/1",
        "n_pages": chosen.pages,
        "seed": SEED,
        "fonts": sorted({face.family for face in faces}),
        "recognizer": Recognizer.load_default().fingerprint,
        **conditions(machine, "onnxruntime", "rapidocr", "torch"),
        "readers": [found.as_json() for found in scores.values()],
    }
    write_json(chosen.out / "pages.json", document)


if __name__ == "__main__":
    main()
