/** The cases are those of the server's tests of doc_validation_error. */
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { details } from './support/validated.js'

async function rules(schema: Document, document: Document): Promise<unknown> {
  const found = (await details({ $jsonSchema: schema }, document)) as Document
  return found['schemaRulesNotSatisfied']
}

const property = (propertyName: string, ...details: Document[]) => [
  { operatorName: 'properties', propertiesNotSatisfied: [{ propertyName, details }] },
]

t.test('$jsonSchema keywords have details of a failure', async (t) => {
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
