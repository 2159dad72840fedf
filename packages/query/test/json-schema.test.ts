import type { Document } from '@shardlab/bson'
import t from 'tap'
import { codeOf, failure, matches } from './support/helpers.js'

t.test('$jsonSchema', (t) => {
  const table: [schema: Document, yes: Document[], no: Document[]][] = [
    [{}, [{}, { a: 1 }], []],
    [{ required: ['a'] }, [{ a: null }], [{}]],
    [{ properties: { a: { bsonType: 'int' } } }, [{ a: 1 }, {}], [{ a: 'x' }, { a: [1] }]],
    [{ properties: { a: { type: 'number' } } }, [{ a: 1.5 }], [{ a: 'x' }]],
    [{ properties: { a: { minimum: 1, maximum: 3, exclusiveMaximum: true } } }, [{ a: 1 }, { a: 'x' }], [{ a: 3 }, { a: 0 }]],
    [{ properties: { a: { minLength: 2, pattern: '^x' } } }, [{ a: 'xñ' }, { a: 1 }], [{ a: 'x' }, { a: 'yy' }]],
    [{ properties: { a: { enum: [1, 'b'] } } }, [{ a: 'b' }], [{ a: 2 }]],
    [
      { properties: { a: {} }, patternProperties: { '^p': { bsonType: 'int' } }, additionalProperties: false },
      [{ a: 1, p1: 1 }],
      [{ b: 1 }, { p1: 'x' }],
    ],
    [
      { properties: { a: { items: { bsonType: 'int' }, minItems: 1, uniqueItems: true } } },
      [{ a: [1, 2] }],
      [{ a: [] }, { a: ['x'] }, { a: [1, 1] }],
    ],
    [{ properties: { a: { items: [{ bsonType: 'int' }], additionalItems: false } } }, [{ a: [1] }, { a: [] }], [{ a: [1, 2] }]],
    [{ properties: { a: { multipleOf: 3 } } }, [{ a: 9 }], [{ a: 10 }]],
    [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ a: 1 }], [{ a: 1, b: 1 }, {}]],
    [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ a: 1, b: 1 }], [{}]],
    [{ not: { required: ['a'] } }, [{}], [{ a: 1 }]],
    [{ dependencies: { a: ['b'] } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
    [{ minProperties: 2 }, [{ a: 1, b: 2 }], [{ a: 1 }]],
    [{ properties: { o: { bsonType: 'object', required: ['x'] } } }, [{ o: { x: 1 } }], [{ o: {} }]],
  ]
  for (const [schema, yes, no] of table) {
    for (const document of yes) t.ok(matches({ $jsonSchema: schema }, document), JSON.stringify([schema, document]))
    for (const document of no) t.notOk(matches({ $jsonSchema: schema }, document), JSON.stringify([schema, document]))
  }
  t.ok(matches({ $nor: [{ $jsonSchema: { required: ['a'] } }] }, {}))
  t.equal(failure(() => matches({ $jsonSchema: { nope: 1 } }, {}))?.message, 'Unknown $jsonSchema keyword: nope')
  t.equal(
    codeOf(() => matches({ $jsonSchema: { nope: 1 } }, {})),
    9,
  )
  t.equal(
    codeOf(() => matches({ $jsonSchema: 1 }, {})),
    14,
  )
  t.equal(
    codeOf(() => matches({ $jsonSchema: { required: 1 } }, {})),
    14,
  )
  t.equal(
    codeOf(() => matches({ $jsonSchema: { type: 'integer' } }, {})),
    2,
  )
  t.equal(
    codeOf(() => matches({ $where: 'true' }, {})),
    6108304,
  )
  t.end()
})
