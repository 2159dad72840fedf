/** Validators, and the details of what fails them: the cases are those of the server's own tests of doc_validation_error. */
import { decode, findField, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

async function collection(validator: Document, options: Document = {}): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ create: 'c', validator, ...options })
  return node
}

/** `errInfo.details` of an insert that must fail. */
async function details(validator: Document, document: Document): Promise<unknown> {
  const node = await collection(validator)
  const reply = await node.run({ insert: 'c', documents: [{ _id: 1, ...document }] })
  const [error] = (reply['writeErrors'] ?? []) as Document[]
  if (error === undefined) throw new Error(`nothing failed: ${JSON.stringify(reply)}`)
  return (error['errInfo'] as Document)['details']
}

t.test('a document that fails is refused with errInfo', async (t) => {
  const node = await collection({ a: { $gt: 1 } })
  const raw = await node.raw({ insert: 'c', documents: [{ _id: 7, a: 1 }] })
  const error = decode(findField(raw, 'writeErrors')!.slice())['0'] as Document
  t.same(error, {
    index: 0,
    code: 121,
    errInfo: {
      failingDocumentId: 7,
      details: { operatorName: '$gt', specifiedAs: { a: { $gt: 1 } }, reason: 'comparison failed', consideredValue: 1 },
    },
    errmsg: 'Document failed validation',
  })
  t.same(Object.keys(error), ['index', 'code', 'errmsg', 'errInfo'])
  t.same((await node.ok({ insert: 'c', documents: [{ _id: 8, a: 2 }] }))['n'], 1)
  t.same((await node.ok({ insert: 'c', documents: [{ _id: 9 }], bypassDocumentValidation: true }))['n'], 1)
  t.match(await node.run({ update: 'c', updates: [{ q: { _id: 8 }, u: { $set: { a: 0 } } }] }), {
    writeErrors: [{ code: 121 }],
  })
  t.match(await node.run({ update: 'c', updates: [{ q: { _id: 10 }, u: { a: 0 }, upsert: true }] }), {
    writeErrors: [{ code: 121 }],
  })
})

t.test('4.4 has no details', async (t) => {
  const node = new NodeUnderTest({ version: '4.4' })
  await node.ok({ create: 'c', validator: { a: 1 } })
  const reply = await node.run({ insert: 'c', documents: [{ _id: 1 }] })
  t.same(reply['writeErrors'], [{ index: 0, code: 121, errmsg: 'Document failed validation' }])
})

t.test('levels and actions', async (t) => {
  const moderate = await collection({ a: 1 }, { validationLevel: 'moderate' })
  await moderate.ok({ insert: 'c', documents: [{ _id: 1, b: 1 }], bypassDocumentValidation: true })
  await moderate.ok({ insert: 'c', documents: [{ _id: 2, a: 1 }] })
  t.equal(
    (await moderate.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { b: 2 } } }] }))['nModified'],
    1,
    'bad stays bad',
  )
  t.match(await moderate.run({ update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { a: 2 } } }] }), {
    writeErrors: [{ code: 121 }],
  })
  t.match(await moderate.run({ insert: 'c', documents: [{ _id: 3 }] }), { writeErrors: [{ code: 121 }] })

  const warn = await collection({ a: 1 }, { validationAction: 'warn' })
  t.equal((await warn.ok({ insert: 'c', documents: [{ _id: 1 }] }))['n'], 1)
  const off = await collection({ a: 1 }, { validationLevel: 'off' })
  t.equal((await off.ok({ insert: 'c', documents: [{ _id: 1 }] }))['n'], 1)

  const node = new NodeUnderTest()
  t.match(await node.run({ create: 'c', validationLevel: 'some' }), {
    code: 2,
    errmsg: "Enumeration value 'some' for field 'create.validationLevel' is not a valid value.",
  })
  t.match(await node.run({ create: 'system.js', validator: { a: 1 } }), { code: 72 })
  t.match(await node.run({ create: 'c', validator: { a: { $nope: 1 } } }), {
    code: 2,
    errmsg: 'unknown operator: $nope',
  })
  t.match(await node.run({ create: 'c', validator: { $where: 'true' } }), {
    code: 2,
    errmsg: '$where is not allowed in this context',
  })
  t.match(await node.run({ create: 'c', validator: { a: { $near: [1, 2] } } }), { code: 5626500 })
})

t.test('collMod changes the validator, and a restart keeps it', async (t) => {
  const node = await collection({ a: 1 })
  t.same(await node.ok({ collMod: 'c', validator: { b: 1 } }), { ok: 1 })
  t.match(await node.run({ insert: 'c', documents: [{ a: 1 }] }), { writeErrors: [{ code: 121 }] })
  const again = node.restarted()
  t.match(await again.run({ insert: 'c', documents: [{ a: 1 }] }), { writeErrors: [{ code: 121 }] })
  t.equal((await again.ok({ insert: 'c', documents: [{ b: 1 }] }))['n'], 1)
  const [listed] = ((await again.ok({ listCollections: 1 }))['cursor'] as { firstBatch: Document[] }).firstBatch
  t.same(listed!['options'], { validator: { b: 1 }, validationLevel: 'strict', validationAction: 'error' })
  await again.ok({ collMod: 'c', validator: {} })
  t.equal((await again.ok({ insert: 'c', documents: [{ a: 1 }] }))['n'], 1)
})

t.test('query operators', async (t) => {
  const comparison = (
    operatorName: string,
    specifiedAs: Document,
    considered: Document,
    reason = 'comparison failed',
  ) => ({
    operatorName,
    specifiedAs,
    reason,
    ...considered,
  })
  t.same(await details({ a: { $eq: 2 } }, { b: 1 }), {
    operatorName: '$eq',
    specifiedAs: { a: { $eq: 2 } },
    reason: 'field was missing',
  })
  t.same(
    await details({ a: { $eq: 2 } }, { a: [3, 4, 5] }),
    comparison('$eq', { a: { $eq: 2 } }, { consideredValues: [3, 4, 5] }),
  )
  t.same(await details({ 'a.b': 2 }, { a: [{ b: 3 }] }), comparison('$eq', { 'a.b': 2 }, { consideredValue: 3 }))
  t.same(
    await details({ 'a.b': 0 }, { a: [{ b: [1, 2] }, { b: [3, 4] }] }),
    comparison('$eq', { 'a.b': 0 }, { consideredValues: [1, 2, 3, 4] }),
  )
  t.same(
    await details({ a: { $eq: [1, 2] } }, { a: [] }),
    comparison('$eq', { a: { $eq: [1, 2] } }, { consideredValues: [] }),
  )
  t.same(
    await details({ a: { $ne: 2 } }, { a: 2 }),
    comparison('$ne', { a: { $ne: 2 } }, { consideredValue: 2 }, 'comparison succeeded'),
  )
  t.same(await details({ a: { $nin: [2] } }, { a: 2 }), {
    operatorName: '$nin',
    specifiedAs: { a: { $nin: [2] } },
    reason: 'matching value found in array',
    consideredValue: 2,
  })
  t.same(await details({ a: { $exists: false } }, { a: 1 }), {
    operatorName: '$exists',
    specifiedAs: { a: { $exists: false } },
    reason: 'path does exist',
  })
  t.same(await details({ a: { $type: 'double' } }, { a: ['x', 'y'] }), {
    operatorName: '$type',
    specifiedAs: { a: { $type: 'double' } },
    reason: 'type did not match',
    consideredValues: ['x', 'y'],
    consideredType: 'string',
  })
  t.same(await details({ a: { $size: 1 } }, { a: 'no' }), {
    operatorName: '$size',
    specifiedAs: { a: { $size: 1 } },
    reason: 'type did not match',
    consideredType: 'string',
    expectedType: 'array',
    consideredValue: 'no',
  })
  t.same(await details({ a: { $regex: '^S', $options: '' } }, { a: 1 }), {
    operatorName: '$regex',
    specifiedAs: { a: { $regex: '^S', $options: '' } },
    reason: 'type did not match',
    consideredType: 'int',
    expectedTypes: ['regex', 'string', 'symbol'],
    consideredValue: 1,
  })
  t.same(await details({ a: { $all: [1, 2] } }, { a: [1] }), {
    operatorName: '$all',
    specifiedAs: { a: { $all: [1, 2] } },
    reason: 'array did not contain all specified values',
    consideredValue: [1],
  })
  t.same(await details({ $expr: { $eq: ['$a', '$b'] } }, { a: 1, b: 2 }), {
    operatorName: '$expr',
    specifiedAs: { $expr: { $eq: ['$a', '$b'] } },
    reason: 'expression did not match',
    expressionResult: false,
  })
  t.match(await details({ $expr: { $divide: ['$a', 0] } }, { a: 1 }), {
    reason: 'failed to evaluate aggregation expression',
    details: { code: Number, errmsg: String },
  })
})

t.test('logical operators, and what is below a negation', async (t) => {
  t.same(
    await details(
      { $and: [{ $or: [{ p: { $gt: 50 } }, { p: { $lt: 20 } }] }, { q: { $gt: 0 } }, { q: { $lt: 10 } }] },
      { p: 30, q: 30 },
    ),
    {
      operatorName: '$and',
      clausesNotSatisfied: [
        {
          index: 0,
          details: {
            operatorName: '$or',
            clausesNotSatisfied: [
              {
                index: 0,
                details: {
                  operatorName: '$gt',
                  specifiedAs: { p: { $gt: 50 } },
                  reason: 'comparison failed',
                  consideredValue: 30,
                },
              },
              {
                index: 1,
                details: {
                  operatorName: '$lt',
                  specifiedAs: { p: { $lt: 20 } },
                  reason: 'comparison failed',
                  consideredValue: 30,
                },
              },
            ],
          },
        },
        {
          index: 2,
          details: {
            operatorName: '$lt',
            specifiedAs: { q: { $lt: 10 } },
            reason: 'comparison failed',
            consideredValue: 30,
          },
        },
      ],
    },
  )
  t.same(await details({ $nor: [{ q: { $gt: 30 } }, { q: { $not: { $lt: 20 } } }] }, { q: 25 }), {
    operatorName: '$nor',
    clausesSatisfied: [
      {
        index: 1,
        details: {
          operatorName: '$not',
          details: {
            operatorName: '$lt',
            specifiedAs: { q: { $lt: 20 } },
            reason: 'comparison failed',
            consideredValue: 25,
          },
        },
      },
    ],
  })
  t.same(await details({ a: { $gt: 1, $lt: 5 } }, { a: 7 }), {
    operatorName: '$and',
    clausesNotSatisfied: [
      {
        index: 1,
        details: {
          operatorName: '$lt',
          specifiedAs: { a: { $lt: 5 } },
          reason: 'comparison failed',
          consideredValue: 7,
        },
      },
    ],
  })
  t.same(await details({ $nor: [{ $jsonSchema: { minimum: 1 } }] }, { a: 2 }), {
    operatorName: '$nor',
    clausesSatisfied: [{ index: 0, details: { operatorName: '$jsonSchema', reason: 'schema matched' } }],
  })
})

/** `schemaRulesNotSatisfied` of a schema. */
async function rules(schema: Document, document: Document): Promise<unknown> {
  const found = (await details({ $jsonSchema: schema }, document)) as Document
  return found['schemaRulesNotSatisfied']
}

const property = (propertyName: string, ...details: Document[]) => [
  { operatorName: 'properties', propertiesNotSatisfied: [{ propertyName, details }] },
]

t.test('$jsonSchema keywords', async (t) => {
  t.same(await rules({ properties: { a: { minimum: 10, maximum: -10 } } }, { a: 5 }), [
    ...property(
      'a',
      { operatorName: 'maximum', specifiedAs: { maximum: -10 }, reason: 'comparison failed', consideredValue: 5 },
      { operatorName: 'minimum', specifiedAs: { minimum: 10 }, reason: 'comparison failed', consideredValue: 5 },
    ),
  ])
  t.same(
    await rules({ properties: { a: { minimum: 1, exclusiveMinimum: true } } }, { a: 1 }),
    property('a', {
      operatorName: 'minimum',
      specifiedAs: { minimum: 1, exclusiveMinimum: true },
      reason: 'comparison failed',
      consideredValue: 1,
    }),
  )
  t.same(
    await rules({ properties: { a: { bsonType: 'string', minLength: 4 } } }, { a: 1 }),
    property('a', {
      operatorName: 'bsonType',
      specifiedAs: { bsonType: 'string' },
      reason: 'type did not match',
      consideredValue: 1,
      consideredType: 'int',
    }),
  )
  t.same(
    await rules(
      { required: ['b', 'a'], title: 'T', properties: { a: { description: 'an a', minLength: 4 } } },
      { a: 'foo' },
    ),
    [
      {
        operatorName: 'properties',
        propertiesNotSatisfied: [
          {
            propertyName: 'a',
            description: 'an a',
            details: [
              {
                operatorName: 'minLength',
                specifiedAs: { minLength: 4 },
                reason: 'specified string length was not satisfied',
                consideredValue: 'foo',
              },
            ],
          },
        ],
      },
      { operatorName: 'required', specifiedAs: { required: ['b', 'a'] }, missingProperties: ['b'] },
    ],
  )
  t.same(await rules({ properties: { _id: {}, a: {} }, additionalProperties: false }, { a: 1, z: 2 }), [
    { operatorName: 'additionalProperties', specifiedAs: { additionalProperties: false }, additionalProperties: ['z'] },
  ])
  t.same(await rules({ patternProperties: { '^s': { bsonType: 'string' } } }, { s1: 1 }), [
    {
      operatorName: 'patternProperties',
      details: [
        {
          propertyName: 's1',
          regexMatched: '^s',
          details: [
            {
              operatorName: 'bsonType',
              specifiedAs: { bsonType: 'string' },
              reason: 'type did not match',
              consideredValue: 1,
              consideredType: 'int',
            },
          ],
        },
      ],
    },
  ])
  t.same(
    await rules(
      { properties: { a: { minItems: 3, uniqueItems: true, items: { bsonType: 'int' } } } },
      { a: ['x', 'x'] },
    ),
    property(
      'a',
      {
        operatorName: 'minItems',
        specifiedAs: { minItems: 3 },
        reason: 'array did not match specified length',
        consideredValue: ['x', 'x'],
        numberOfItems: 2,
      },
      {
        operatorName: 'uniqueItems',
        specifiedAs: { uniqueItems: true },
        reason: 'found a duplicate item',
        consideredValue: ['x', 'x'],
        duplicatedValue: 'x',
      },
      {
        operatorName: 'items',
        reason: 'At least one item did not match the sub-schema',
        itemIndex: 0,
        details: [
          {
            operatorName: 'bsonType',
            specifiedAs: { bsonType: 'int' },
            reason: 'type did not match',
            consideredValue: 'x',
            consideredType: 'string',
          },
        ],
      },
    ),
  )
  t.same(await rules({ properties: { a: { oneOf: [{ minimum: 1 }, { maximum: 3 }] } } }, { a: 2 }), [
    ...property('a', {
      operatorName: 'oneOf',
      reason: 'more than one subschema matched',
      matchingSchemaIndexes: [0, 1],
    }),
  ])
  t.same(
    await rules(
      { properties: { a: { allOf: [{ bsonType: 'int' }, { oneOf: [{ minimum: 1 }, { enum: [6, 7] }] }] } } },
      { a: 0 },
    ),
    property('a', {
      operatorName: 'allOf',
      schemasNotSatisfied: [
        {
          index: 1,
          details: [
            {
              operatorName: 'oneOf',
              schemasNotSatisfied: [
                {
                  index: 0,
                  details: [
                    {
                      operatorName: 'minimum',
                      specifiedAs: { minimum: 1 },
                      reason: 'comparison failed',
                      consideredValue: 0,
                    },
                  ],
                },
                {
                  index: 1,
                  details: [
                    {
                      operatorName: 'enum',
                      specifiedAs: { enum: [6, 7] },
                      reason: 'value was not found in enum',
                      consideredValue: 0,
                    },
                  ],
                },
              ],
            },
          ],
        },
      ],
    }),
  )
  t.same(await rules({ not: { properties: { a: { minimum: 3 } } } }, { a: 6 }), [
    { operatorName: 'not', reason: 'child expression matched' },
  ])
  t.same(await rules({ dependencies: { a: ['b'] } }, { a: 1 }), [
    { operatorName: 'dependencies', failingDependencies: [{ conditionalProperty: 'a', missingProperties: ['b'] }] },
  ])
  t.same(await rules({ maxProperties: 1 }, { a: 1 }), [
    {
      operatorName: 'maxProperties',
      specifiedAs: { maxProperties: 1 },
      reason: 'specified number of properties was not satisfied',
      numberOfProperties: 2,
    },
  ])
  t.same(await details({ $jsonSchema: { type: 'number' } }, { a: 1 }), {
    operatorName: '$jsonSchema',
    specifiedAs: { $jsonSchema: { type: 'number' } },
    reason: 'expression always evaluates to false',
  })
})
