/** What an application does, whatever the shard key: values of fields, and operations on them. */
import { z } from 'zod'
import { number, share, whole } from './quantity-schemas.js'

/** Collections without `fields` have one field that `findOther` queries; all have padding. */
const reservedFields: readonly string[] = ['other', 'pad']

/** A map whose names are those of fields. */
export function byField<T extends z.ZodType>(value: T, message: string) {
  return z
    .record(z.string(), value, message)
    .refine((fields) => Object.keys(fields).length > 0, 'must have at least one field')
    .refine(
      (fields) => Object.keys(fields).every((field) => /^(?!\d+$)[^.$\0][^.\0]*$/.test(field)),
      'must have field names without dots that do not start with $ and are not numbers',
    )
    .refine(
      (fields) => Object.keys(fields).every((field) => !reservedFields.includes(field)),
      `must not use ${reservedFields.join(' or ')}: every document already has these fields`,
    )
}

const theta = number.refine((n) => n > 0 && n < 1, 'must be above 0 and below 1').default(0.99)

/** Values of one field. */
export const keysSchema = z.discriminatedUnion(
  'distribution',
  [
    z.strictObject({ distribution: z.literal('uniform'), cardinality: whole(1, 2 ** 48).optional() }),
    z.strictObject({ distribution: z.literal('zipfian'), theta, cardinality: whole(1, 1e8) }),
    z.strictObject({ distribution: z.literal('monotonic') }),
    z.strictObject({
      distribution: z.literal('hotspot'),
      cardinality: whole(1, 2 ** 48),
      /** Number of hot values. */
      hotKeys: whole(1, 2 ** 48).optional(),
      /** Instead of `hotKeys`. Default 0.2. */
      shareOfKeys: share.optional(),
      /** Share of the operations that use hot values. */
      shareOfOperations: share.default(0.8),
      /** Share of the documents with hot values. Default: `shareOfOperations`. */
      shareOfDocuments: share.optional(),
    }),
    z.strictObject({ distribution: z.literal('latest'), theta }),
    /** One value per line, JSON or text. A repeated value is drawn more often. */
    z.strictObject({ distribution: z.literal('file'), path: z.string().min(1) }),
  ],
  'must be one of uniform, zipfian, monotonic, hotspot, latest, file',
)
export type KeysSource = z.infer<typeof keysSchema>

const mixNames = ['insert', 'findByKey', 'findRange', 'findOther', 'updateByKey'] as const

const sumIsOne = (shares: readonly number[]): boolean =>
  Math.abs(shares.reduce((sum, part) => sum + part, 0) - 1) < 1e-6

/** Operations relative to the key: what they ask for changes with it. */
export const mixSchema = z
  .strictObject(
    Object.fromEntries(mixNames.map((name) => [name, share.default(0)])) as Record<
      (typeof mixNames)[number],
      z.ZodDefault<typeof share>
    >,
  )
  .refine((mix) => sumIsOne(Object.values(mix)), 'must have shares that add up to 1')

export const operationKinds = ['insert', 'find', 'updateOne', 'updateMany', 'deleteOne', 'deleteMany'] as const

const condition = z.union(
  [
    z.literal('equal'),
    z.strictObject({ range: number.refine((n) => n > 0, 'must be above 0') }),
    z.strictObject({ in: whole(1, 1000) }),
  ],
  'must be equal, { range: 100 } or { in: 3 }',
)

const statement = z.strictObject({
  do: z.enum(operationKinds, `must be one of ${operationKinds.join(', ')}`),
  /** Conditions by field. Values are drawn from the distribution of the field. */
  where: z.record(z.string(), condition).default({}),
  /** Documents that a find returns at most. */
  limit: whole(1, 100_000).default(20),
})
export type StatementSource = z.infer<typeof statement>

const operation = statement.extend({
  name: z.string().min(1),
  do: z.enum([...operationKinds, 'transaction'], `must be one of ${operationKinds.join(', ')}, transaction`),
  share,
  /** Of a transaction, in order. */
  statements: z.array(statement).min(1, 'must have at least one statement').max(100).optional(),
  /** Fields whose value is drawn once for all statements of a transaction. */
  same: z.array(z.string()).optional(),
})

/** Operations on named fields: they stay the same under another key. */
export const operationsSchema = z
  .array(operation)
  .min(1, 'must have at least one operation')
  .refine((all) => sumIsOne(all.map((each) => each.share)), 'must have shares that add up to 1')
export type OperationSource = z.infer<typeof operation>
