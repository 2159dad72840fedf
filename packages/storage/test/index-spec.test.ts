import t from 'tap'
import { decode, encode, type CommandError, type Document } from '@shardlab/bson'
import { languageOf } from '@shardlab/query'
import { createMemoryEngine, defaultIndexName, prepareIndex, validateIndexSpec } from '../src/index.js'
import { applyAll, createIndexOf, createOf } from './support/log.js'
import { errorOf } from './support/query.js'

const validated = (spec: Document): Document => decode(validateIndexSpec(encode(spec)))

t.test("default index names are the drivers'", async (t) => {
  t.equal(defaultIndexName(encode({ a: 1, b: -1 })), 'a_1_b_-1')
  t.equal(defaultIndexName(encode({ 'a.b': 'hashed' })), 'a.b_hashed')
})

t.test("a specification is stored in the server's form", async (t) => {
  const stored = validated({ name: 'x', unique: true, key: { a: -1 }, ns: 'db.c', expireAfterSeconds: 5 })
  t.same(stored, { v: 2, key: { a: -1 }, name: 'x', unique: true, expireAfterSeconds: 5 })
  t.same(Object.keys(stored), ['v', 'key', 'name', 'unique', 'expireAfterSeconds'])
  t.same(validated({ v: 1, key: { a: 1 }, name: 'x' }), { v: 1, key: { a: 1 }, name: 'x' })
  t.same(validated({ key: { _id: 1 }, name: '_id_1' }), { v: 2, key: { _id: 1 }, name: '_id_' })
  t.same(validated({ key: { a: 1 }, name: 'x', collation: { locale: 'simple' } }), { v: 2, key: { a: 1 }, name: 'x' })
  t.same(validated({ key: { a: 1 }, name: 'x', expireAfterSeconds: Number.NaN }), {
    v: 2,
    key: { a: 1 },
    name: 'x',
    expireAfterSeconds: 2147483647,
  })
  t.same(validated({ key: { _id: 'hashed' }, name: '_id_hashed' }), {
    v: 2,
    key: { _id: 'hashed' },
    name: '_id_hashed',
  })
})

t.test("invalid specifications fail with the server's errors", async (t) => {
  const cases: [spec: Document, code: number, message: RegExp][] = [
    [{ key: { a: 1 } }, 9, /The 'name' field is a required property of an index specification$/],
    [{ name: 'x' }, 9, /The 'key' field is a required property of an index specification$/],
    [{ key: {}, name: 'x' }, 67, /Index keys cannot be empty\.$/],
    [
      { key: { a: 0 }, name: 'x' },
      67,
      /^Error in specification \{ key: \{ a: 0 \}, name: "x" \} :: caused by :: Values in the index key pattern cannot be 0\.$/,
    ],
    [{ key: { a: Number.NaN }, name: 'x' }, 67, /cannot be NaN\.$/],
    [
      { key: { a: true }, name: 'x' },
      67,
      /Values in v:2 index key pattern cannot be of type bool\. Only numbers > 0, numbers < 0, and strings are allowed\.$/,
    ],
    [{ key: { a: '' }, name: 'x' }, 67, /cannot be empty strings$/],
    [{ key: { a: 'foo' }, name: 'x' }, 67, /Unknown index plugin 'foo'$/],
    [{ key: { a: 'text' }, name: 'x' }, 67, /indexes of type 'text' are not supported here$/],
    [
      { key: { '$**': 'wildcard' }, name: 'x' },
      67,
      /Unknown index plugin 'wildcard'|must be a non-zero number, not a string\.$/,
    ],
    [{ key: { '$**': 1 }, name: 'x', unique: true }, 67, /Index type 'wildcard' does not support the 'unique' option$/],
    [{ key: { '$**': 1 }, name: 'x', sparse: true }, 67, /does not support the 'sparse' option$/],
    [{ key: { '$**': 1 }, name: 'x', expireAfterSeconds: 5 }, 67, /cannot make a TTL index :: caused by :: /],
    [{ key: { a: 1 }, name: 'x', wildcardProjection: { a: 1 } }, 2, /is only allowed in an 'wildcard' index$/],
    [{ key: { '$**': 1 }, name: 'x', wildcardProjection: {} }, 9, /can't be an empty object$/],
    [{ key: { 'a.$**': 1 }, name: 'x', wildcardProjection: { a: 1 } }, 9, /is only allowed when 'key' is /],
    [
      { key: { '$**': 1 }, name: 'x', wildcardProjection: { a: 1, b: 0 } },
      7246211,
      /^Inclusion and exclusion statements cannot combine/,
    ],
    [
      { key: { '$**': 1 }, name: 'x', wildcardProjection: { a: 1, 'a.b': 1 } },
      7246200,
      /cannot overlap, however 'a' is overlapped with 'a\.b$/,
    ],
    [{ key: { a: 'geoHaystack' }, name: 'x' }, 67, /GeoHaystack indexes cannot be created in version 5\.0 and above$/],
    [
      { key: { a: 'hashed', b: 'hashed' }, name: 'x' },
      31303,
      /^A maximum of one index field is allowed to be hashed but found 2 for 'key' \{ a: "hashed", b: "hashed" \}$/,
    ],
    [
      { key: { a: 'hashed' }, name: 'x', unique: true },
      16764,
      /^Currently hashed indexes cannot guarantee uniqueness\. Use a regular index\.$/,
    ],
    [{ key: { '': 1 }, name: 'x' }, 67, /Index keys cannot be an empty field\.$/],
    [{ key: { 'a..b': 1 }, name: 'x' }, 67, /Index keys cannot contain an empty field\.$/],
    [{ key: { 'a.$b': 1 }, name: 'x' }, 67, /field name starts with '\$'\.$/],
    [{ key: { a: 1 }, name: '' }, 67, /index name cannot be empty$/],
    [{ key: { a: 1 }, name: '*' }, 2, /^The index name '\*' is not valid\.$/],
    [{ key: { a: 1 }, name: 5 }, 14, /The field 'name' must be a string, but got int$/],
    [{ key: 5, name: 'x' }, 14, /The field 'key' must be an object, but got int$/],
    [{ key: { a: 1 }, name: 'x', v: 3 }, 67, /cannot create an index with v=3$/],
    [{ key: { a: 1 }, name: 'x', v: 'x' }, 14, /The field 'v' must be a number, but got string$/],
    [
      { key: { a: 1 }, name: 'x', uniqe: true },
      197,
      /The field 'uniqe' is not valid for an index specification\. Specification: /,
    ],
    [
      { key: { a: 1 }, name: 'x', unique: 'yes' },
      14,
      /The field 'unique has value unique: "yes", which is not convertible to bool$/,
    ],
    [
      { key: { a: 1 }, name: 'x', sparse: true, partialFilterExpression: { a: 1 } },
      67,
      /cannot mix "partialFilterExpression" and "sparse" options$/,
    ],
    [
      { key: { a: 1 }, name: 'x', partialFilterExpression: { a: { $ne: 1 } } },
      67,
      /Expression not supported in partial index: \$not\n {4}a \$eq 1\n$/,
    ],
    [
      { key: { a: 1 }, name: 'x', partialFilterExpression: { $expr: true } },
      224,
      /^\$expr is not allowed in this context$/,
    ],
    [
      { key: { a: 1 }, name: 'x', partialFilterExpression: { a: { $near: [1, 2] } } },
      5626500,
      /are not allowed in this context$/,
    ],
    [
      { key: { a: 1 }, name: 'x', partialFilterExpression: { $sampleRate: 0.5 } },
      67,
      /Expression not supported in partial index: /,
    ],
    [{ key: { a: 1 }, name: 'x', partialFilterExpression: 5 }, 14, /must be an object, but got int$/],
    [
      { key: { a: 1, b: 1 }, name: 'x', expireAfterSeconds: 5 },
      67,
      /TTL indexes are single-field indexes, compound indexes do not support TTL\./,
    ],
    [{ key: { a: 1 }, name: 'x', expireAfterSeconds: -1 }, 67, /option cannot be less than 0\./],
    [
      { key: { a: 1 }, name: 'x', expireAfterSeconds: 'x' },
      67,
      /option must be numeric, but received a type of 'string'\./,
    ],
    [
      { key: { _id: 1 }, name: 'x', unique: true },
      197,
      /^The field 'unique' is not valid for an _id index specification\./,
    ],
    [
      { key: { _id: -1 }, name: 'x' },
      2,
      /^The field 'key' for an _id index must be \{_id: 1\}, but got \{ _id: -1 \}$/,
    ],
    [
      { key: { a: 1 }, name: '_id_' },
      2,
      /^The index name '_id_' is reserved for the _id index, which must have key pattern \{_id: 1\}, found key: \{ a: 1 \}$/,
    ],
    [{ key: { a: 1 }, name: 'x', collation: {} }, 2, /The field 'collation' cannot be an empty object\.$/],
    [{ key: { a: 1 }, name: 'x', collation: { locale: 'nowhere' } }, 2, /Field 'locale' is invalid/],
    [{ key: { a: 1 }, name: 'x', v: 1, collation: { locale: 'de' } }, 67, /with the 'collation' option and v=1$/],
    [
      { key: { a: 1 }, name: 'x', unique: true, prepareUnique: true },
      67,
      /'unique' option and the 'prepareUnique' option$/,
    ],
  ]
  for (const [spec, code, message] of cases)
    t.match(
      errorOf(() => validated(spec)),
      { code, message },
      JSON.stringify(spec),
    )
})

t.test('D608: a wildcard is the only field of an index', async (t) => {
  for (const key of [
    { '$**': 1, a: 1 },
    { a: 1, 'b.$**': 1 },
  ])
    t.match(
      errorOf(() => validated({ key, name: 'x' })),
      { code: 67, message: /wildcard indexes do not allow compounding$/ },
    )
})

t.test('servers before 6.0 reject $or and $in in partial filters', async (t) => {
  const rules = { partialFilterOrAndIn: false }
  for (const partialFilterExpression of [{ $or: [{ a: 1 }, { b: 1 }] }, { a: { $in: [1, 2] } }]) {
    const spec = encode({ key: { a: 1 }, name: 'x', partialFilterExpression })
    t.equal(errorOf(() => validateIndexSpec(spec, rules)).code, 67)
    t.ok(validateIndexSpec(spec))
  }
})

t.test('a specification is compared with the existing indexes', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [
    createOf('db.c'),
    createIndexOf('db.c', { a: 1 }),
    createIndexOf('db.c', { t: 1 }, { expireAfterSeconds: 5 }),
    createIndexOf('db.c', { h: 1 }, { hidden: true }),
  ])
  const prepare = (spec: Document): Document | null => {
    const prepared = prepareIndex(engine.collection('db.c')!, encode(spec))
    return prepared === null ? null : decode(prepared)
  }
  t.equal(prepare({ key: { a: 1 }, name: 'a_1' }), null, 'identical')
  t.equal(prepare({ key: { h: 1 }, name: 'h_1' }), null, 'hidden does not count')
  t.equal(prepare({ key: { _id: 1 }, name: '_id_' }), null)
  t.same(
    prepare({ key: { a: 1 }, name: 'other', unique: true }),
    { v: 2, key: { a: 1 }, name: 'other', unique: true },
    'unique distinguishes indexes',
  )
  t.same(prepare({ key: { a: 1 }, name: 'other', partialFilterExpression: { b: 1 } })?.name, 'other')
  t.match(
    errorOf(() => prepare({ key: { b: 1 }, name: 'a_1' })),
    {
      code: 86,
      message:
        /^An existing index has the same name as the requested index\. .*Requested index: \{ v: 2, key: \{ b: 1 \}, name: "a_1" \}, existing index: \{ v: 2, key: \{ a: 1 \}, name: "a_1" \}$/,
    },
  )
  t.match(
    errorOf(() => prepare({ key: { a: 1 }, name: 'a_1', sparse: true, unique: true })),
    {
      code: 86,
      message: /Requested index: \{ v: 2, unique: true, key: \{ a: 1 \}, name: "a_1", sparse: true \}, existing/,
    },
  )
  t.match(
    errorOf(() => prepare({ key: { a: 1 }, name: 'x' })),
    { code: 85, message: 'Index already exists with a different name: a_1' },
  )
  t.match(
    errorOf(() => prepare({ key: { t: 1 }, name: 't_1', expireAfterSeconds: 6 })),
    { code: 85, message: /^An equivalent index already exists with the same name but different options\./ },
  )
  t.match(
    errorOf(() => prepare({ key: { t: 1 }, name: 'x' })),
    { code: 85, message: /^An equivalent index already exists with a different name and options\./ },
  )

  const inRelease = (release: string, spec: Document): string => {
    try {
      const rules = { language: languageOf(release) }
      return prepareIndex(engine.collection('db.c')!, encode(spec), rules) === null ? 'exists' : 'new'
    } catch (error) {
      return `${(error as CommandError).code} ${(error as CommandError).message}`
    }
  }
  const a1 = '{ v: 2, key: { a: 1 }, name: "a_1"'
  const ns = ', ns: "db.c" }'
  const answers: [spec: Document, releases: string[], answer: string][] = [
    [{ key: { a: 1 }, name: 'x' }, ['2.6.12', '4.0.28'], 'exists'],
    [{ key: { a: 1 }, name: 'x' }, ['4.4.29', '8.0.13'], '85 Index already exists with a different name: a_1'],
    [
      { key: { a: 1 }, name: 'a_1', unique: true },
      ['2.6.12', '4.0.28'],
      '85 Index with name: a_1 already exists with different options',
    ],
    [
      { key: { a: 1 }, name: 'a_1', unique: true },
      ['4.4.29'],
      `85 An equivalent index already exists with the same name but different options. Requested index: { v: 2, unique: true, key: { a: 1 }, name: "a_1" }, existing index: ${a1} }`,
    ],
    [
      { key: { a: 1 }, name: 'x', sparse: true },
      ['2.6.12'],
      '85 Index with pattern: { a: 1 } already exists with different options',
    ],
    [
      { key: { a: 1 }, name: 'x', sparse: true },
      ['4.0.28'],
      `85 Index: { v: 2, key: { a: 1 }, name: "x", sparse: true${ns} already exists with different options: ${a1}${ns}`,
    ],
    [
      { key: { a: 1 }, name: 'x', partialFilterExpression: { b: 1 } },
      ['4.4.29'],
      `85 An equivalent index already exists with a different name and options. Requested index: { v: 2, key: { a: 1 }, name: "x", partialFilterExpression: { b: 1 } }, existing index: ${a1} }`,
    ],
    [{ key: { a: 1 }, name: 'x', sparse: true }, ['5.0.31', '8.0.13'], 'new'],
    [
      { key: { b: 1 }, name: 'a_1' },
      ['2.6.12'],
      '86 Trying to create an index with same name a_1 with different key spec { b: 1 } vs existing spec { a: 1 }',
    ],
    [
      { key: { b: 1 }, name: 'a_1' },
      ['4.0.28'],
      `86 Index must have unique name.The existing index: ${a1}${ns} has the same name as the requested index: { v: 2, key: { b: 1 }, name: "a_1"${ns}`,
    ],
    [{ key: { a: 1 }, name: 'x', collation: { locale: 'de' } }, ['4.0.28', '4.4.29', '8.0.13'], 'new'],
  ]
  for (const [spec, releases, answer] of answers)
    for (const release of releases) t.equal(inRelease(release, spec), answer, `${release} ${JSON.stringify(spec)}`)
  t.match(
    inRelease('4.0.28', { key: { a: 1 }, name: 'a_1', collation: { locale: 'de' } }),
    /^85 An index with the same key pattern, but a different collation already exists with the same name\./,
  )

  for (let i = 4; i < 64; i++) engine.apply(createIndexOf('db.c', { [`f${i}`]: 1 }))
  t.match(
    errorOf(() => prepare({ key: { z: 1 }, name: 'z' })),
    { code: 67, message: 'add index fails, too many indexes for db.c key:{ z: 1 }' },
  )
})
