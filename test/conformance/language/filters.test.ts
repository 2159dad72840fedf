/**
 * Query operators, with the examples of the manual's pages and of its tutorials on arrays, embedded
 * documents and null.
 */
import { Binary, Decimal128, Double, Long } from 'mongodb'
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

/** Examples of a find over the same documents, each with the `_id`s of the results. */
const finds = (
  documents: readonly object[],
  rows: readonly (readonly [filter: object, ids: readonly unknown[]])[],
): readonly Example[] => {
  const numbered = documents.map((document, i): object => ('_id' in document ? document : { _id: i + 1, ...document }))
  return rows.map(([filter, ids]) => ({
    name: JSON.stringify(filter, (_, value: unknown) => (value instanceof RegExp ? String(value) : value)),
    documents: numbered,
    find: { filter, projection: { _id: 1 } },
    gives: ids.map((_id) => ({ _id })),
  }))
}

const goods = [
  { item: { name: 'ab', code: '123' }, qty: 15, tags: ['A', 'B', 'C'] },
  { item: { name: 'cd', code: '123' }, qty: 20, tags: ['B'] },
  { item: { name: 'ij', code: '456' }, qty: 25, tags: ['A', 'B'] },
  { item: { name: 'xy', code: '456' }, qty: 30, tags: ['B', 'A'] },
  { item: { name: 'mn', code: '000' }, qty: 20, tags: [['A', 'B'], 'C'] },
]
const comparisons = finds(goods, [
  [{ qty: { $eq: 20 } }, [2, 5]],
  [{ qty: 20 }, [2, 5]],
  [{ 'item.name': { $eq: 'ab' } }, [1]],
  [{ tags: { $eq: 'B' } }, [1, 2, 3, 4]],
  [{ tags: { $eq: ['A', 'B'] } }, [3, 5]],
  [{ tags: ['A', 'B'] }, [3, 5]],
  [{ item: { name: 'ab', code: '123' } }, [1]],
  [{ item: { code: '123', name: 'ab' } }, []],
  [{ qty: { $gt: 20 } }, [3, 4]],
  [{ qty: { $gte: 20 } }, [2, 3, 4, 5]],
  [{ qty: { $lt: 20 } }, [1]],
  [{ qty: { $lte: 20 } }, [1, 2, 5]],
  [{ qty: { $ne: 20 } }, [1, 3, 4]],
  [{ qty: { $in: [15, 30] } }, [1, 4]],
  [{ tags: { $in: [/^C/] } }, [1, 5]],
  [{ qty: { $nin: [15, 20] } }, [3, 4]],
  [{ tags: { $nin: ['A', 'C'] } }, [2]],
  [{ tags: { $gt: 'B' } }, [1, 5]],
  [{ $and: [{ qty: { $gt: 15 } }, { 'item.code': '456' }] }, [3, 4]],
  [{ $or: [{ qty: { $lt: 20 } }, { 'item.code': '000' }] }, [1, 5]],
  [{ $nor: [{ qty: 20 }, { tags: 'C' }] }, [3, 4]],
  [{ qty: { $not: { $gt: 20 } } }, [1, 2, 5]],
  [{ 'item.name': { $not: /^[ac]/ } }, [3, 4, 5]],
  [{ $comment: 'x', qty: 30 }, [4]],
])

const spices = [
  { saffron: 5, cinnamon: 5, mustard: null },
  { saffron: 3, cinnamon: null, mustard: 8 },
  { saffron: null, cinnamon: 3, mustard: 9 },
  { saffron: 1, cinnamon: 2, mustard: 3 },
  { saffron: 2, mustard: 5 },
  { cinnamon: 2 },
]
const elements = [
  ...finds(spices, [
    [{ saffron: { $exists: true } }, [1, 2, 3, 4, 5]],
    [{ cinnamon: { $exists: false } }, [5]],
    [{ saffron: { $exists: true, $nin: [1, 2] } }, [1, 2, 3]],
  ]),
  ...finds(
    [{ item: null }, {}],
    [
      [{ item: null }, [1, 2]],
      [{ item: { $ne: null } }, []],
      [{ item: { $type: 10 } }, [1]],
      [{ item: { $exists: false } }, [2]],
      [{ item: { $in: [null] } }, [1, 2]],
    ],
  ),
  ...finds(
    [
      { zip: '2030456257' },
      { zip: 43339374 },
      { zip: Long.fromNumber(3921412) },
      { zip: 1.5 },
      { zip: ['834847278', '1893289032'] },
      { zip: Decimal128.fromString('1') },
      { zip: null },
      { zip: true },
      { zip: { a: 1 } },
    ],
    [
      [{ zip: { $type: 2 } }, [1, 5]],
      [{ zip: { $type: 'string' } }, [1, 5]],
      [{ zip: { $type: 'double' } }, [4]],
      [{ zip: { $type: 'int' } }, [2]],
      [{ zip: { $type: 'long' } }, [3]],
      [{ zip: { $type: 'number' } }, [2, 3, 4, 6]],
      [{ zip: { $type: 'array' } }, [5]],
      [{ zip: { $type: 'object' } }, [9]],
      [{ zip: { $type: ['bool', 'null'] } }, [7, 8]],
    ],
  ),
]

const evaluation = [
  ...finds(
    [
      { name: 'Food', budget: 400, spent: 450 },
      { name: 'Drinks', budget: 100, spent: 150 },
      { name: 'Clothes', budget: 100, spent: 50 },
      { name: 'Misc', budget: 500, spent: 300 },
    ],
    [
      [{ $expr: { $gt: ['$spent', '$budget'] } }, [1, 2]],
      [{ $expr: { $and: [{ $lt: ['$budget', 450] }, { $eq: [{ $strLenCP: '$name' }, 4] }] } }, [1]],
    ],
  ),
  ...finds(
    [{ qty: 0 }, { qty: 5 }, { qty: 12 }],
    [
      [{ qty: { $mod: [4, 0] } }, [1, 3]],
      [{ qty: { $mod: [4, 1] } }, [2]],
      [{ qty: { $mod: [4.9, 0.2] } }, [1, 3]],
    ],
  ),
  ...finds(
    [{ a: 54 }, { a: 20 }, { a: new Double(20) }, { a: new Binary(Buffer.from('66', 'hex')) }, { a: 'x' }],
    [
      [{ a: { $bitsAllSet: [1, 5] } }, [1, 4]],
      [{ a: { $bitsAllSet: 50 } }, [1]],
      [{ a: { $bitsAllClear: [1, 5] } }, [2, 3]],
      [{ a: { $bitsAllClear: 35 } }, [2, 3]],
      [{ a: { $bitsAnySet: [1, 5] } }, [1, 4]],
      [{ a: { $bitsAnySet: 35 } }, [1, 4]],
      [{ a: { $bitsAnyClear: [1, 5] } }, [2, 3]],
      [{ a: { $bitsAnyClear: 35 } }, [1, 2, 3, 4]],
      [{ a: { $bitsAllSet: new Binary(Buffer.from('MC==', 'base64')) } }, [1]],
    ],
  ),
  ...finds(
    [
      { sku: 'abc123', description: 'Single line description.' },
      { sku: 'abc789', description: 'First line\nSecond line' },
      { sku: 'xyz456', description: 'Many spaces before     line' },
      { sku: 'xyz789', description: 'Multiple\nline description' },
      { sku: 'Abc789', description: 'SKU starts with A' },
    ],
    [
      [{ sku: { $regex: /789$/ } }, [2, 4, 5]],
      [{ sku: { $regex: /^ABC/i } }, [1, 2, 5]],
      [{ sku: { $regex: '^ABC', $options: 'i' } }, [1, 2, 5]],
      [{ description: { $regex: /^S/, $options: 'm' } }, [1, 2, 5]],
      [{ description: { $regex: /^S/ } }, [1, 5]],
      [{ description: { $regex: /m.*line/, $options: 'si' } }, [3, 4]],
      [{ description: { $regex: /m.*line/, $options: 'i' } }, [3]],
      [{ sku: { $regex: 'abc #category code\n123 #item number', $options: 'x' } }, [1]],
      [{ sku: { $in: [/^xyz/, 'Abc789'] } }, [3, 4, 5]],
      [{ sku: { $not: { $regex: '^x' } } }, [1, 2, 5]],
    ],
  ),
  ...finds(
    [
      { item: 'journal', qty: 25, size: { h: 14 }, instock: true },
      { item: 'notebook', qty: 50, size: { h: 8.5 }, instock: true },
      { item: 'paper', qty: 100, size: { h: 8.5 }, instock: 1 },
      { item: 'planner', qty: 75, size: { h: 22 } },
    ],
    [
      [{ $jsonSchema: { required: ['instock'], properties: { instock: { bsonType: 'bool' } } } }, [1, 2]],
      [{ $jsonSchema: { properties: { qty: { minimum: 60 } } } }, [3, 4]],
      [
        {
          $nor: [
            {
              $jsonSchema: {
                required: ['instock'],
                properties: { item: { bsonType: 'string' }, instock: { bsonType: 'bool' } },
              },
            },
          ],
        },
        [3, 4],
      ],
      [{ $jsonSchema: { properties: { size: { bsonType: 'object', properties: { h: { maximum: 10 } } } } } }, [2, 3]],
    ],
  ),
]

const stock = [
  {
    code: 'xyz',
    tags: ['school', 'book', 'bag', 'headphone', 'appliance'],
    qty: [
      { size: 'S', num: 10 },
      { size: 'M', num: 45 },
      { size: 'L', num: 2 },
    ],
  },
  {
    code: 'abc',
    tags: ['appliance', 'school', 'book'],
    qty: [
      { size: '6', num: 100 },
      { size: '6', num: 50 },
      { size: '8', num: 100 },
    ],
  },
  {
    code: 'efg',
    tags: ['school', 'book'],
    qty: [
      { size: 'S', num: 10 },
      { size: 'M', num: 100 },
      { size: 'L', num: 100 },
    ],
  },
  { code: 'ijk', tags: ['electronics', 'school'], qty: [{ size: 'M', num: 100 }] },
]
const arrays = [
  ...finds(stock, [
    [{ tags: { $all: ['appliance', 'school', 'book'] } }, [1, 2]],
    [
      { qty: { $all: [{ $elemMatch: { size: 'M', num: { $gt: 50 } } }, { $elemMatch: { num: 100, size: 'L' } }] } },
      [3],
    ],
    [{ 'qty.num': { $all: [50] } }, [2]],
    [{ 'qty.num': 50 }, [2]],
    [{ tags: { $size: 2 } }, [3, 4]],
    [{ 'tags.0': 'school' }, [1, 3]],
    [{ 'qty.0.num': { $gte: 100 } }, [2, 4]],
    [{ qty: { size: 'M', num: 100 } }, [3, 4]],
    [{ qty: { $elemMatch: { size: 'S', num: { $gte: 10, $lt: 20 } } } }, [1, 3]],
    [{ qty: { $not: { $elemMatch: { num: { $gte: 100 } } } } }, [1]],
  ]),
  ...finds(
    [{ results: [82, 85, 88] }, { results: [75, 88, 89] }, { results: [] }, { results: 81 }],
    [
      [{ results: { $elemMatch: { $gte: 80, $lt: 85 } } }, [1]],
      [{ results: { $gte: 80, $lt: 85 } }, [1, 2, 4]],
      [{ results: { $gt: 85, $lt: 82 } }, [2]],
      [{ results: [] }, [3]],
      [{ results: { $elemMatch: { $in: [75] } } }, [2]],
      [{ results: { $all: [] } }, []],
    ],
  ),
  ...finds(
    [
      {
        results: [
          { product: 'abc', score: 10 },
          { product: 'xyz', score: 5 },
        ],
      },
      {
        results: [
          { product: 'abc', score: 8 },
          { product: 'xyz', score: 7 },
        ],
      },
      {
        results: [
          { product: 'abc', score: 7 },
          { product: 'xyz', score: 8 },
        ],
      },
      {
        results: [
          { product: 'abc', score: 7 },
          { product: 'def', score: 8 },
        ],
      },
    ],
    [
      [{ results: { $elemMatch: { product: 'xyz', score: { $gte: 8 } } } }, [3]],
      [{ results: { $elemMatch: { product: { $ne: 'xyz' } } } }, [1, 2, 3, 4]],
      [{ 'results.product': { $ne: 'xyz' } }, [4]],
      [{ 'results.score': { $gte: 10 } }, [1]],
    ],
  ),
]

for (const [family, examples] of Object.entries({ comparisons, elements, evaluation, arrays }))
  t.test(`examples of ${family} give the documents of the manual`, (t) => runExamples(t, examples))
