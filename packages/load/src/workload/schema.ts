import { durationFrom, QuantityError } from '@shardlab/quantities'
import { z } from 'zod'
import { distributionNames } from '../data/distributions.js'

const name = z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be a name of letters, digits, _ and -')
const whole = (from: number, to: number) =>
  z
    .int(`must be a whole number from ${from} to ${to}`)
    .min(from, `must be at least ${from}`)
    .max(to, `must be at most ${to}`)
const positive = z.number('must be a number above 0').positive('must be above 0')
const fieldName = z.string('must be the name of a field').min(1)
const ramp = z.union(
  [positive, z.strictObject({ from: positive, to: positive })],
  'must be a number above 0, or { from, to }',
)
/** Stays a text, because settings are checked again together with options of the command line. */
const time = z.union([z.string(), z.number()], 'must be a time such as 30s').superRefine((value, context) => {
  try {
    if (durationFrom(value) <= 0) context.addIssue({ code: 'custom', message: 'must be above 0' })
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
})
const ns = z.string().regex(/^[^.$ /\\"]{1,63}\.[^$\0]{1,180}$/, 'must be database.collection')

export const operationKinds = [
  'findOne',
  'find',
  'count',
  'aggregate',
  'insert',
  'bulkInsert',
  'update',
  'upsert',
  'readModifyWrite',
  'transaction',
] as const
export type OperationKind = (typeof operationKinds)[number]

const operation = z.strictObject({
  do: z.enum(operationKinds, `must be one of ${operationKinds.join(', ')}`),
  weight: z.number('must be a number from 0 on').min(0, 'must be a number from 0 on').default(1),
  /** Equality with the chosen record in these fields. */
  by: z.array(fieldName, 'must be a list of fields').min(1, 'must name at least one field').optional(),
  /** A range of this width from the chosen record's value; without `width` to the end. */
  range: z.strictObject({ field: fieldName, width: positive.optional() }).optional(),
  /** Additional conditions, passed through. */
  filter: z.record(z.string(), z.unknown()).optional(),
  sort: z.record(z.string(), z.union([z.literal(1), z.literal(-1)], 'must be 1 or -1')).optional(),
  /** Document limit; two numbers: drawn from the range. */
  limit: z
    .union([whole(1, 100_000), z.tuple([whole(1, 100_000), whole(1, 100_000)])], 'must be a whole number or [from, to]')
    .optional(),
  /** Stages after the $match of `by`, `range` and `filter`. */
  pipeline: z.array(z.record(z.string(), z.unknown())).optional(),
  /** Number of text fields that an update writes, or all. */
  fields: z.union([whole(1, 1000), z.literal('all')], 'must be a whole number or all').optional(),
  /** Documents of a bulkInsert. */
  documents: whole(1, 10_000).optional(),
  /** Records that a transaction reads, and other ones that it updates. */
  reads: whole(0, 100).optional(),
  writes: whole(0, 100).optional(),
  /** A transaction's records are in one block of this many; absent: they may be any. */
  within: whole(1, 2_000_000_000).optional(),
  distribution: z.enum(distributionNames, `must be one of ${distributionNames.join(', ')}`).optional(),
})
export type OperationSource = z.infer<typeof operation>

const phase = z
  .strictObject({
    name,
    duration: time.optional(),
    operations: whole(1, 1e12).optional(),
    rate: ramp.optional(),
    concurrency: ramp.optional(),
    /** Weight by operation; operations not listed do not run. */
    mix: z.record(z.string(), z.number().min(0)).optional(),
  })
  .refine(
    (phase) => (phase.duration === undefined) !== (phase.operations === undefined),
    'must have either duration or operations',
  )
export type PhaseSource = z.infer<typeof phase>

export const workloadSchema = z.strictObject({
  name,
  seed: whole(0, 4294967295).default(1),
  ns: ns.default('shardlab_load.records'),
  records: whole(1, 2_000_000_000).default(1000),
  shardKey: z
    .record(z.string(), z.union([z.literal(1), z.literal('hashed')], 'must be 1 or hashed'))
    .nullable()
    .default({ _id: 'hashed' }),
  record: z.record(z.string(), z.unknown()),
  indexes: z
    .array(z.record(z.string(), z.union([z.literal(1), z.literal(-1), z.literal('hashed')], 'must be 1, -1 or hashed')))
    .default([]),
  distribution: z.enum(distributionNames, `must be one of ${distributionNames.join(', ')}`).default('zipfian'),
  operations: z
    .record(name, operation)
    .refine(
      (operations) => Object.keys(operations).length > 0 && Object.keys(operations).length <= 100,
      'must have 1 to 100 operations',
    ),
  phases: z.array(phase).min(1, 'must have at least one phase').optional(),
})
export type WorkloadSource = z.infer<typeof workloadSchema>
