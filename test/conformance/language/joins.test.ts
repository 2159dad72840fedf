/**
 * Stages that read other collections, with the examples of the manual's pages: both collections
 * unsharded, and both sharded.
 */
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const inventory = [
  { _id: 1, sku: 'almonds', description: 'product 1', instock: 120 },
  { _id: 2, sku: 'bread', description: 'product 2', instock: 80 },
  { _id: 3, sku: 'cashews', description: 'product 3', instock: 60 },
  { _id: 4, sku: 'pecans', description: 'product 4', instock: 70 },
  { _id: 5, sku: null, description: 'Incomplete' },
  { _id: 6 },
]
const orders = [
  { _id: 1, item: 'almonds', price: 12, quantity: 2 },
  { _id: 2, item: 'pecans', price: 20, quantity: 1 },
  { _id: 3 },
]

const restaurants = [
  { _id: 1, name: 'American Steak House', food: ['filet', 'sirloin'], beverages: ['beer', 'wine'] },
  { _id: 2, name: 'Honest John Pizza', food: ['cheese pizza', 'pepperoni pizza'], beverages: ['soda'] },
]
const meals = [
  { _id: 1, item: 'filet', restaurant: 'American Steak House' },
  { _id: 2, item: 'cheese pizza', restaurant: 'Honest John Pizza', drink: 'lemonade' },
  { _id: 3, item: 'cheese pizza', restaurant: 'Honest John Pizza', drink: 'soda' },
]
const restaurant = (id: number): object => restaurants[id - 1]!

const joins: readonly Example[] = [
  {
    name: '$lookup on one field',
    documents: orders,
    others: { inventory },
    aggregate: [{ $lookup: { from: 'inventory', localField: 'item', foreignField: 'sku', as: 'docs' } }],
    gives: [
      { ...orders[0], docs: [inventory[0]] },
      { ...orders[1], docs: [inventory[3]] },
      { _id: 3, docs: [inventory[4], inventory[5]] },
    ],
    sets: ['docs'],
  },
  {
    name: '$lookup with an array',
    documents: [
      { _id: 1, title: 'Reading is ...', enrollment: ['giraffe2', 'pandabear', 'artie'] },
      { _id: 2, title: 'But Writing ...', enrollment: ['giraffe1', 'artie'] },
    ],
    others: {
      members: ['artie', 'giraffe', 'giraffe1', 'panda', 'pandabear', 'giraffe2'].map((name, i) => ({
        _id: i + 1,
        name,
      })),
    },
    aggregate: [
      { $lookup: { from: 'members', localField: 'enrollment', foreignField: 'name', as: 'info' } },
      { $project: { info: '$info._id' } },
    ],
    gives: [
      { _id: 1, info: [1, 5, 6] },
      { _id: 2, info: [1, 3] },
    ],
    sets: ['info'],
  },
  {
    name: '$lookup, then $mergeObjects',
    documents: orders.slice(0, 2),
    others: { items: [{ _id: 1, item: 'almonds', price: 99, stock: 5 }] },
    aggregate: [
      { $lookup: { from: 'items', localField: 'item', foreignField: 'item', as: 'from' } },
      { $replaceRoot: { newRoot: { $mergeObjects: [{ $arrayElemAt: ['$from', 0] }, '$$ROOT'] } } },
      { $project: { from: 0 } },
    ],
    gives: [{ _id: 1, item: 'almonds', price: 12, stock: 5, quantity: 2 }, orders[1]!],
  },
  {
    name: '$lookup with several conditions',
    documents: [
      { _id: 1, item: 'almonds', ordered: 2 },
      { _id: 2, item: 'pecans', ordered: 1 },
      { _id: 3, item: 'cookies', ordered: 60 },
    ],
    others: {
      warehouses: [
        { _id: 1, stock_item: 'almonds', warehouse: 'A', instock: 120 },
        { _id: 2, stock_item: 'pecans', warehouse: 'A', instock: 80 },
        { _id: 3, stock_item: 'almonds', warehouse: 'B', instock: 60 },
        { _id: 4, stock_item: 'cookies', warehouse: 'B', instock: 40 },
        { _id: 5, stock_item: 'cookies', warehouse: 'A', instock: 80 },
      ],
    },
    aggregate: [
      {
        $lookup: {
          from: 'warehouses',
          let: { item: '$item', qty: '$ordered' },
          pipeline: [
            { $match: { $expr: { $and: [{ $eq: ['$stock_item', '$$item'] }, { $gte: ['$instock', '$$qty'] }] } } },
            { $project: { stock_item: 0, _id: 0 } },
          ],
          as: 'stock',
        },
      },
    ],
    gives: [
      {
        _id: 1,
        item: 'almonds',
        ordered: 2,
        stock: [
          { warehouse: 'A', instock: 120 },
          { warehouse: 'B', instock: 60 },
        ],
      },
      { _id: 2, item: 'pecans', ordered: 1, stock: [{ warehouse: 'A', instock: 80 }] },
      { _id: 3, item: 'cookies', ordered: 60, stock: [{ warehouse: 'A', instock: 80 }] },
    ],
    sets: ['stock'],
  },
  {
    name: '$lookup without correlation',
    documents: [
      { _id: 1, student: 'Ann' },
      { _id: 2, student: 'Raymond' },
    ],
    others: {
      holidays: [
        { _id: 1, year: 2018, name: "New Year's" },
        { _id: 2, year: 2018, name: 'Pi Day' },
        { _id: 3, year: 2017, name: 'Ice Cream Day' },
      ],
    },
    aggregate: [
      {
        $lookup: {
          from: 'holidays',
          pipeline: [
            { $match: { year: 2018 } },
            { $sort: { _id: 1 } },
            { $replaceRoot: { newRoot: { name: '$name' } } },
          ],
          as: 'h',
        },
      },
    ],
    gives: [1, 2].map((_id) => ({
      _id,
      student: _id === 1 ? 'Ann' : 'Raymond',
      h: [{ name: "New Year's" }, { name: 'Pi Day' }],
    })),
  },
  {
    name: '$lookup, the concise correlated form',
    documents: meals,
    others: { restaurants },
    aggregate: [
      {
        $lookup: {
          from: 'restaurants',
          localField: 'restaurant',
          foreignField: 'name',
          let: { drink: '$drink' },
          pipeline: [{ $match: { $expr: { $in: ['$$drink', '$beverages'] } } }],
          as: 'matches',
        },
      },
    ],
    gives: [
      { ...meals[0], matches: [] },
      { ...meals[1], matches: [] },
      { ...meals[2], matches: [restaurant(2)] },
    ],
  },
  {
    name: '$unionWith, duplicates kept',
    documents: [{ _id: 1, store: 'A', q: 150 }],
    others: {
      s18: [
        { _id: 1, store: 'A', q: 100 },
        { _id: 2, store: 'B', q: 50 },
      ],
    },
    aggregate: [
      { $set: { y: 17 } },
      { $unionWith: { coll: 's18', pipeline: [{ $set: { y: 18 } }] } },
      { $sort: { y: 1, store: 1 } },
    ],
    gives: [
      { _id: 1, store: 'A', q: 150, y: 17 },
      { _id: 1, store: 'A', q: 100, y: 18 },
      { _id: 2, store: 'B', q: 50, y: 18 },
    ],
    order: 'sorted',
  },
  {
    name: '$unionWith of names, without duplicates',
    documents: [
      { _id: 1, name: 'a', state: 'CA' },
      { _id: 2, name: 'b', state: 'NY' },
    ],
    others: { warehouses: [{ _id: 1, name: 'w', state: 'NY' }] },
    aggregate: [
      { $project: { state: 1, _id: 0 } },
      { $unionWith: { coll: 'warehouses', pipeline: [{ $project: { state: 1, _id: 0 } }] } },
      { $group: { _id: '$state' } },
    ],
    gives: [{ _id: 'CA' }, { _id: 'NY' }],
    order: 'any',
  },
  {
    name: '$unionWith of $documents',
    documents: [{ _id: 1, x: 10 }],
    others: {},
    aggregate: [{ $unionWith: { pipeline: [{ $documents: [{ x: 11 }, { x: 12 }] }] } }],
    gives: [{ _id: 1, x: 10 }, { x: 11 }, { x: 12 }],
  },
  {
    name: '$lookup of $documents',
    documents: [
      { _id: 1, zip: 94301 },
      { _id: 2, zip: 10019 },
    ],
    others: {},
    aggregate: [
      {
        $lookup: {
          localField: 'zip',
          foreignField: 'code',
          as: 'city',
          pipeline: [
            {
              $documents: [
                { code: 94301, name: 'Palo Alto' },
                { code: 10019, name: 'New York' },
              ],
            },
          ],
        },
      },
    ],
    gives: [
      { _id: 1, zip: 94301, city: [{ code: 94301, name: 'Palo Alto' }] },
      { _id: 2, zip: 10019, city: [{ code: 10019, name: 'New York' }] },
    ],
  },
]

t.test('joins give the documents of the manual', (t) => runExamples(t, joins))
