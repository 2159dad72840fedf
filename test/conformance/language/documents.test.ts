/** Expressions over sets and documents, with the examples of the manual's pages of operators. */
import t from 'tap'
import { missing, runExpressions, type ExpressionRow } from './support/language.js'

const sorted = (input: unknown): unknown => ({ $sortArray: { input, sortBy: 1 } })

const sets: readonly ExpressionRow[] = [
  [{ $allElementsTrue: [[true, 1, 'someString']] }, true],
  [{ $allElementsTrue: [[[false]]] }, true],
  [{ $allElementsTrue: [[]] }, true],
  [{ $allElementsTrue: [[null, false, 0]] }, false],
  [{ $anyElementTrue: [[true, false]] }, true],
  [{ $anyElementTrue: [[[false]]] }, true],
  [{ $anyElementTrue: [[null, false, 0]] }, false],
  [{ $anyElementTrue: [[]] }, false],
  [
    {
      $setDifference: [
        ['a', 'b', 'a'],
        ['b', 'a'],
      ],
    },
    [],
  ],
  [{ $setDifference: [['a', 'b'], [['a', 'b']]] }, ['a', 'b']],
  [
    {
      $setEquals: [
        ['a', 'b', 'a'],
        ['b', 'a'],
      ],
    },
    true,
  ],
  [{ $setEquals: [['a', 'b'], [['a', 'b']]] }, false],
  [
    sorted({
      $setIntersection: [
        ['a', 'b', 'a'],
        ['b', 'a'],
      ],
    }),
    ['a', 'b'],
  ],
  [{ $setIntersection: [['a', 'b'], [['a', 'b']]] }, []],
  [
    {
      $setIsSubset: [
        ['a', 'b', 'a'],
        ['b', 'a'],
      ],
    },
    true,
  ],
  [{ $setIsSubset: [['a', 'b'], [['a', 'b']]] }, false],
  [
    sorted({
      $setUnion: [
        ['a', 'b', 'a'],
        ['b', 'a'],
      ],
    }),
    ['a', 'b'],
  ],
  [sorted({ $setUnion: [['a', 'b'], [['a', 'b']]] }), ['a', 'b', ['a', 'b']]],
  [{ $setUnion: ['$a', null] }, null, { a: [1] }],
]

const documents: readonly ExpressionRow[] = [
  [
    {
      $arrayToObject: {
        $literal: [
          { k: 'item', v: 'abc123' },
          { k: 'qty', v: 25 },
        ],
      },
    },
    { item: 'abc123', qty: 25 },
  ],
  [
    {
      $arrayToObject: {
        $literal: [
          ['item', 'abc123'],
          ['qty', 25],
        ],
      },
    },
    { item: 'abc123', qty: 25 },
  ],
  [
    { $arrayToObject: '$dimensions' },
    { l: 25, w: 10, uom: 'cm' },
    {
      dimensions: [
        { k: 'l', v: 25 },
        { k: 'w', v: 10 },
        { k: 'uom', v: 'cm' },
      ],
    },
  ],
  [
    {
      $arrayToObject: [
        [
          ['a', 1],
          ['a', 2],
        ],
      ],
    },
    { a: 2 },
  ],
  [
    { $objectToArray: { item: 'foo', qty: 25 } },
    [
      { k: 'item', v: 'foo' },
      { k: 'qty', v: 25 },
    ],
  ],
  [
    { $objectToArray: { item: 'foo', qty: 25, size: { len: 25, w: 10, uom: 'cm' } } },
    [
      { k: 'item', v: 'foo' },
      { k: 'qty', v: 25 },
      { k: 'size', v: { len: 25, w: 10, uom: 'cm' } },
    ],
  ],
  [{ $mergeObjects: [{ a: 1 }, null] }, { a: 1 }],
  [{ $mergeObjects: [null, null] }, {}],
  [{ $mergeObjects: [{ a: 1 }, { a: 2, b: 2 }, { a: 3, c: 3 }] }, { a: 3, b: 2, c: 3 }],
  [{ $mergeObjects: [{ a: 1 }, { a: 2, b: 2 }, { a: 3, b: null, c: 3 }] }, { a: 3, b: null, c: 3 }],
  [{ $getField: 'price.usd' }, 45.99, { 'price.usd': 45.99 }],
  [{ $getField: { $literal: '$price' } }, 45.99, { $literal: 1, $price: 45.99 }],
  [{ $getField: { field: { $literal: '$small' }, input: '$quantity' } }, 15, { quantity: { $large: 20, $small: 15 } }],
  [{ $getField: 'nothing' }, missing],
  [{ $getField: { field: 'a', input: null } }, null],
  [{ $setField: { field: 'price.usd', input: '$doc', value: 49.99 } }, { a: 1, 'price.usd': 49.99 }, { doc: { a: 1 } }],
  [{ $setField: { field: 'a', input: '$doc', value: '$$REMOVE' } }, { b: 2 }, { doc: { a: 1, b: 2 } }],
  [
    { $setField: { field: { $literal: '$price' }, input: '$doc', value: 9 } },
    { $price: 9, b: 2 },
    { doc: { $price: 1, b: 2 } },
  ],
  [{ $unsetField: { field: 'price.usd', input: '$doc' } }, { b: 2 }, { doc: { 'price.usd': 1, b: 2 } }],
  ['$a.b', [1, 2], { a: [{ b: 1 }, { b: 2 }, { c: 3 }] }],
  ['$a.0', [], { a: [1, 2] }],
  [['$a', '$nothing'], [1, null], { a: 1 }],
  [{ x: '$nothing', y: '$a' }, { y: 1 }, { a: 1 }],
  [{ $cond: [true, '$$REMOVE', 1] }, missing],
]

for (const [family, rows] of Object.entries({ sets, documents }))
  t.test(`expressions of ${family} give the values of the manual`, (t) => runExpressions(t, rows))
