import { DocumentWriter, type Document } from '@shardlab/bson'
import t from 'tap'
import { compileFilter } from '../../src/index.js'
import { codeOf, context, failure, matches } from '../support/helpers.js'

t.test('$jsonSchema keywords accept and reject values', (t) => {
  const table: [schema: Document, yes: Document[], no: Document[]][] = [
    [{}, [{}, { a: 1 }], []],
    [{ required: ['a'] }, [{ a: null }], [{}]],
    [{ properties: { a: { bsonType: 'int' } } }, [{ a: 1 }, {}], [{ a: 'x' }, { a: [1] }]],
    [{ properties: { a: { type: 'number' } } }, [{ a: 1.5 }], [{ a: 'x' }]],
    [
      { properties: { a: { minimum: 1, maximum: 3, exclusiveMaximum: true } } },
      [{ a: 1 }, { a: 'x' }],
      [{ a: 3 }, { a: 0 }],
    ],
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
    [
      { properties: { a: { items: [{ bsonType: 'int' }], additionalItems: false } } },
      [{ a: [1] }, { a: [] }],
      [{ a: [1, 2] }],
    ],
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
    9,
  )
  t.equal(
    codeOf(() => matches({ $where: 'true' }, {})),
    6108304,
  )
  t.end()
})

t.test('$jsonSchema: equality ignores field order, dots lead into documents, keywords ignore other types', (t) => {
  const property = (schema: Document) => ({ $jsonSchema: { properties: { a: schema } } })
  const collated = { ...context, strings: (a: string, b: string) => a.toLowerCase().localeCompare(b.toLowerCase()) }
  const table: [filter: Document, document: Document, expected: boolean][] = [
    [property({ enum: [{ x: 1, y: { p: 1, q: 2 } }] }), { a: { y: { q: 2, p: 1 }, x: 1 } }, true],
    [property({ enum: [[1, 2]] }), { a: [2, 1] }, false],
    [property({ enum: [1] }), { a: 1.0 }, true],
    [
      property({ uniqueItems: true }),
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      false,
    ],
    [property({ uniqueItems: false }), { a: [1, 1] }, true],
    [property({ maximum: 5 }), { a: NaN }, false],
    [property({ minimum: 5, exclusiveMinimum: false }), { a: 5 }, true],
    [property({ items: [{ bsonType: 'int' }, {}] }), { a: [1, 'x', 'y'] }, true],
    [property({ items: [{ bsonType: 'int' }], additionalItems: { bsonType: 'string' } }), { a: [1, 'x', 2] }, false],
    [property({ additionalItems: false }), { a: [1] }, true],
    [property({ items: {}, additionalItems: false }), { a: [1] }, true],
    [{ $jsonSchema: { enum: [{ a: 1, b: 2 }] } }, { b: 2, a: 1 }, true],
    [{ $jsonSchema: { enum: [1] } }, {}, false],
    [{ $jsonSchema: { required: ['a.b'] } }, { a: { b: 1 } }, true],
    [{ $jsonSchema: { properties: { 'a.b': { bsonType: 'string' } } } }, { a: { b: 1 } }, false],
    [{ $jsonSchema: { dependencies: { title: 'rules', a: { required: ['b'] } } } }, { a: 1 }, false],
    [{ $jsonSchema: { dependencies: { description: 'rules' } } }, { description: 1 }, true],
    [{ $jsonSchema: { title: 'x', description: 'y' } }, {}, true],
    [{ $jsonSchema: { bsonType: 'array' } }, {}, false],
  ]
  for (const [filter, document, expected] of table)
    t.equal(matches(filter, document), expected, JSON.stringify([filter, document]))
  t.notOk(matches(property({ enum: ['x'] }), { a: 'X' }, collated), 'a collation has no effect')
  t.end()
})

t.test('$jsonSchema: invalid schemas are refused with the code and message of the server', (t) => {
  const table: [schema: Document, code: number, message: string][] = [
    [{ id: 1, nope: 1 }, 9, "$jsonSchema keyword 'id' is not currently supported"],
    [{ title: 1 }, 14, "$jsonSchema keyword 'title' must be of type string"],
    [{ minimum: 'x', description: 1 }, 14, "$jsonSchema keyword 'description' must be of type string"],
    [{ type: 'object', bsonType: 'object' }, 9, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'"],
    [{ type: 1 }, 14, "$jsonSchema keyword 'type' must be either a string or an array of strings"],
    [{ type: [1] }, 14, "$jsonSchema keyword 'type' array elements must be strings"],
    [{ bsonType: [] }, 9, "$jsonSchema keyword 'bsonType' must name at least one type"],
    [{ bsonType: ['int', 'int'] }, 9, "$jsonSchema keyword 'bsonType' has duplicate value: int"],
    [{ bsonType: ['integer'] }, 9, "$jsonSchema type 'integer' is not currently supported."],
    [{ type: 'int' }, 2, 'Unknown type name alias: int'],
    [{ maximum: 'x' }, 14, "$jsonSchema keyword 'maximum' must be a number"],
    [{ maximum: 1, exclusiveMaximum: 1 }, 14, "$jsonSchema keyword 'exclusiveMaximum' must be a boolean"],
    [{ exclusiveMaximum: 1 }, 9, "$jsonSchema keyword 'maximum' must be a present if exclusiveMaximum is present"],
    [{ exclusiveMinimum: true }, 9, "$jsonSchema keyword 'minimum' must be a present if exclusiveMinimum is present"],
    [{ multipleOf: 0 }, 9, "$jsonSchema keyword 'multipleOf' must have a positive value"],
    [{ pattern: 1 }, 14, "$jsonSchema keyword 'pattern' must be a string"],
    [{ maxLength: 'x' }, 9, 'Expected a number in: maxLength: "x"'],
    [{ minItems: -1 }, 9, 'Expected a non-negative number in: minItems: -1'],
    [{ minProperties: 1.5 }, 9, 'Expected an integer: minProperties: 1.5'],
    [{ maxItems: NaN }, 9, 'Expected an integer, but found NaN in: maxItems: nan.0'],
    [{ uniqueItems: 1 }, 14, "$jsonSchema keyword 'uniqueItems' must be a boolean"],
    [{ items: 1 }, 14, "$jsonSchema keyword 'items' must be an array or an object, not int"],
    [
      { items: [1] },
      14,
      "$jsonSchema keyword 'items' requires that each element of the array is an object, but found a int",
    ],
    [
      { additionalItems: 1 },
      14,
      "$jsonSchema keyword 'additionalItems' must be either an object or a boolean, but got a int",
    ],
    [{ required: 1 }, 14, "$jsonSchema keyword 'required' must be an array, but found an element of type int"],
    [
      { required: [1] },
      14,
      "$jsonSchema keyword 'required' must be an array of strings, but found an element of type: int",
    ],
    [{ required: ['a', 'a'] }, 9, "$jsonSchema keyword 'required' array cannot contain duplicate values"],
    [{ required: [] }, 9, "$jsonSchema keyword 'required' cannot be an empty array"],
    [{ properties: 1 }, 14, "$jsonSchema keyword 'properties' must be an object"],
    [{ properties: { a: 1 } }, 14, "Nested schema for $jsonSchema property 'a' must be an object"],
    [
      { patternProperties: { a: 1 } },
      14,
      "$jsonSchema keyword 'patternProperties' has property 'a' which is not an object",
    ],
    [{ additionalProperties: 1 }, 14, "$jsonSchema keyword 'additionalProperties' must be an object or a boolean"],
    [
      { dependencies: { a: 1 } },
      14,
      "property 'a' in $jsonSchema keyword 'dependencies' must be either an object or an array",
    ],
    [{ dependencies: { a: [] } }, 9, "property 'a' in $jsonSchema keyword 'dependencies' cannot be an empty array"],
    [
      { dependencies: { a: [1] } },
      14,
      "array 'a' in $jsonSchema keyword 'dependencies' can only contain strings, but found element of type: int",
    ],
    [
      { dependencies: { a: ['b', 'b'] } },
      9,
      "array 'a' in $jsonSchema keyword 'dependencies' contains duplicate element: b",
    ],
    [{ allOf: 1 }, 14, "$jsonSchema keyword 'allOf' must be an array"],
    [{ anyOf: [] }, 2, "$jsonSchema keyword 'anyOf' must be a non-empty array"],
    [{ oneOf: [1] }, 14, "$jsonSchema keyword 'oneOf' must be an array of objects, but found an element of type int"],
    [{ not: 1 }, 14, "$jsonSchema keyword 'not' must be an object, but found an element of type int"],
    [{ enum: 1 }, 14, "$jsonSchema keyword 'enum' must be an array, but found an element of type int"],
    [{ enum: [] }, 9, "$jsonSchema keyword 'enum' cannot be an empty array"],
    [
      {
        enum: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      9,
      "$jsonSchema keyword 'enum' array cannot contain duplicate values.",
    ],
    // The keyword that the server parses first is reported.
    [{ enum: [], minimum: 'x' }, 14, "$jsonSchema keyword 'minimum' must be a number"],
  ]
  for (const [schema, code, message] of table) {
    const error = failure(() => matches({ $jsonSchema: schema }, {}))
    t.same([error?.code, error?.message], [code, message], JSON.stringify(schema))
  }
  const twice = new DocumentWriter()
    .startDocument('$jsonSchema')
    .string('title', 'a')
    .string('title', 'b')
    .end()
    .finish()
  t.equal(failure(() => compileFilter(twice, context))?.message, 'Duplicate $jsonSchema keyword: title')
  t.end()
})
