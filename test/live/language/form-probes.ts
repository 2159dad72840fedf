/** Commands that use a form of an argument, an index type or an index option. */
import type { Document } from '@shardlab/bson'
import type { Language } from '@shardlab/query'
import type { Probe, Refusal } from './probe.js'

const pipeline = (...stages: Document[]): Document => ({ aggregate: 'c', pipeline: stages, cursor: {} })
const project = (v: unknown): Document => pipeline({ $project: { v } })
/** Not in $project, whose parser has an error of its own. */
const computed = (id: unknown): Document => pipeline({ $group: { _id: id } })
const update = (u: unknown, more: Document = {}): Document => ({ update: 'c', updates: [{ q: {}, u, ...more }] })

const always = (command: Document, code: number | null, message: RegExp): Probe => ({
  command,
  refusal: () => ({ code, message }),
})

/** Where an older version lacks the operator, too. */
const after = (kind: 'stage' | 'expression', name: string, command: Document, refusal: Refusal): Probe => ({
  command,
  refusal: (language) => (language.has(kind, name) ? refusal : unknown(kind, name, language)),
})

function unknown(kind: 'stage' | 'expression', name: string, language: Language): Refusal {
  const operator = name.replace('$', String.raw`\$`)
  if (kind === 'stage')
    return { code: language.unknownStageCode, message: new RegExp(`Unrecognized pipeline stage name: '${operator}'`) }
  const [code, text] = language.unknownExpression
  return { code, message: new RegExp(`${text} '${operator}'`) }
}

const indexes = (key: Document, options: Document = {}): Document => ({
  createIndexes: 'indexed',
  indexes: [{ key, name: 'probe', ...options }],
})

const indexOption = (name: string, value: unknown, key: Document = { a: 1 }): [string, Probe] => [
  `index ${name}`,
  {
    command: indexes(key, { [name]: value }),
    refusal: (language) =>
      language.unknownIndexOptions === 'ignored' && !('$**' in key)
        ? { code: null, message: /^$/ }
        : '$**' in key
          ? { code: language.unknownIndexOptions === 'ignored' ? 67 : 197, message: /./ }
          : { code: 197, message: new RegExp(`The field '${name}' is not valid for an index specification`) },
  },
]

export const formProbes: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  [
    'form typeAliases',
    always({ find: 'c', filter: { a: { $type: 'string' } } }, 17287, /BadValue \$type has to be a number$/),
  ],
  [
    'form unwindDocument',
    always(pipeline({ $unwind: { path: '$a' } }), 15981, /^the \$unwind field path must be specified as a string$/),
  ],
  ['form arrayLiterals', always(project(['$a']), 15992, /disallowed field type .* in object expression \(at 'v'\)$/)],
  [
    'form projectExclusion',
    always(project(0), 16406, /The top-level _id field is the only field currently supported for exclusion$/),
  ],
  [
    'form arrayFilters',
    always(
      update({ $set: { 'l.$[]': 1 } }),
      16837,
      /^cannot use the part \(l of l\.\$\[\]\) to traverse the element \(\{l: \[ 1, 2 \]\}\)$/,
    ),
  ],
  [
    'form dottedNames',
    always(
      update({ $set: { a: { 'b.c': 1 } } }),
      57,
      /^The dotted field 'b\.c' in 'a\.b\.c' is not valid for storage\.$/,
    ),
  ],
  [
    'form negativePushPosition',
    always(
      update({ $push: { l: { $each: [1], $position: -1 } } }),
      2,
      /^The \$position value in \$push must be positive\.$/,
    ),
  ],
  [
    'form updatePipelines',
    always(update([{ $set: { a: 1 } }]), 14, /'update\.updates\.u' is the wrong type 'array', expected type 'object'$/),
  ],
  [
    'form findExpressions',
    {
      command: { find: 'c', projection: { v: { $add: ['$a', 1] } } },
      refusal: ({ filterErrors }) => ({
        code: filterErrors === 'plain' ? 2 : 17287,
        message: /Unsupported projection option: v: \{ \$add: \[ "\$a", 1 \] \}$/,
      }),
    },
  ],
  [
    'form outDatabase',
    always(
      pipeline({ $out: { db: 'app', coll: 'o' } }),
      16990,
      /^\$out only supports a string argument, not (o|O)bject$/,
    ),
  ],
  [
    'form emptyModifiers',
    always(
      update({ $set: {} }),
      9,
      /^'\$set' is empty\. You must specify a field like so: \{\$set: \{<field>: \.\.\.\}\}$/,
    ),
  ],
  [
    'form lookupFieldsAndPipeline',
    after(
      'stage',
      '$lookup',
      pipeline({ $lookup: { from: 'o', as: 'o', localField: 'a', foreignField: 'a', pipeline: [] } }),
      { code: 9, message: /^\$lookup with 'pipeline' may not specify 'localField' or 'foreignField'$/ },
    ),
  ],
  [
    'form ifNullManyArguments',
    always(
      project({ $ifNull: ['$a', '$b', 1] }),
      16020,
      /Expression \$ifNull takes exactly 2 arguments\. 3 were passed in\.$/,
    ),
  ],
  [
    'form filterLimit',
    after('expression', '$filter', computed({ $filter: { input: '$l', cond: true, limit: 1 } }), {
      code: 28647,
      message: /Unrecognized parameter to \$filter: limit$/,
    }),
  ],
  [
    'form computedFieldNames',
    after('expression', '$getField', computed({ $getField: '$a' }), {
      code: 5654600,
      message: /'\$a' is a field path reference which is not allowed in this context/,
    }),
  ],
  [
    'form binaryConversions',
    after('expression', '$convert', computed({ $convert: { input: 'AA==', to: 'binData', format: 'base64' } }), {
      code: 9,
      message: /\$convert found an unknown argument: format$/,
    }),
  ],
  ['index hashed', always(indexes({ a: 'hashed' }), 67, /./)],
  ['index wildcard', always(indexes({ '$**': 1 }), 67, /illegal field name: field name starts with '\$'\.$/)],
  [
    'index compoundHashed',
    always(indexes({ a: 'hashed', b: 1 }), 16763, /^Currently only single field hashed index supported\.$/),
  ],
  indexOption('unique', true),
  indexOption('sparse', true),
  indexOption('expireAfterSeconds', 10),
  indexOption('storageEngine', {}),
  indexOption('partialFilterExpression', { a: 1 }),
  indexOption('collation', { locale: 'en' }),
  indexOption('hidden', true),
  indexOption('prepareUnique', true),
  indexOption('clustered', false),
  indexOption('columnstoreProjection', {}),
  indexOption('wildcardProjection', { a: 1 }, { '$**': 1 }),
])
