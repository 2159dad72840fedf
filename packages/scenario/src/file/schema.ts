/** Rules between parts are in `rules.ts`. */
import { emulatedVersions, faultForms } from '@shardlab/cluster'
import { suggestion } from '@shardlab/quantities'
import { z } from 'zod'
import { byField, keysSchema, mixSchema, operationsSchema } from './application-schema.js'
import { memberName } from './member-name.js'
import { bandwidth, bytes, growth, number, rate, time, whole } from './quantity-schemas.js'

const documentSize = bytes.refine((size) => size >= 64 && size <= 16 * 1024 ** 2, 'must be from 64 bytes to 16MB')
const megabytes = bytes.refine(
  (size) => size % 1024 ** 2 === 0 && size >= 1024 ** 2 && size <= 1024 ** 3,
  'must be a whole number of megabytes from 1MB to 1GB',
)
const ns = z.string().regex(/^[^.$ /\\"]{1,63}\.[^$\0]{1,180}$/, 'must be database.collection')
const document = z.record(z.string(), z.unknown(), 'must be a document such as { customer: 1 }')
const shardKey = byField(
  z.union([z.literal(1), z.literal('hashed')], 'must be 1 or hashed'),
  'must be a shard key such as { customer: 1 }',
).refine(
  (key) => Object.values(key).filter((kind) => kind === 'hashed').length <= 1,
  'must have at most one hashed field',
)

/** An oscillating rate is lowest at the start of each period. */
const load = z.union(
  [rate, z.strictObject({ low: rate, high: rate, period: time.default(86_400_000) })],
  'must be a rate such as 50/s, or { low, high, period }',
)

const shard = z.string('must be the name of a shard').transform(memberName)

const hour = z.string().regex(/^([01]?\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 02:00, in quotes')

export const timelineActions = [
  'addShard',
  'removeShard',
  'addShardToZone',
  'removeShardFromZone',
  'updateZoneKeyRange',
  'startBalancer',
  'stopBalancer',
  'balancerWindow',
  'chunkSize',
  'reshard',
  'workload',
  'heal',
  'command',
] as const

const action = z.discriminatedUnion(
  'do',
  [
    z.strictObject({
      at: time,
      do: z.literal('addShard'),
      shard: shard.optional(),
      count: whole(1, 999).default(1),
    }),
    z.strictObject({ at: time, do: z.literal('removeShard'), shard }),
    z.strictObject({ at: time, do: z.literal('addShardToZone'), shard, zone: z.string().min(1) }),
    z.strictObject({ at: time, do: z.literal('removeShardFromZone'), shard, zone: z.string().min(1) }),
    z.strictObject({
      at: time,
      do: z.literal('updateZoneKeyRange'),
      ns,
      min: document,
      max: document,
      zone: z.string().min(1).nullable(),
    }),
    z.strictObject({ at: time, do: z.literal('startBalancer') }),
    z.strictObject({ at: time, do: z.literal('stopBalancer') }),
    z.strictObject({ at: time, do: z.literal('balancerWindow'), start: hour, stop: hour }),
    z.strictObject({ at: time, do: z.literal('chunkSize'), size: megabytes }),
    /** `zones`: needed if the collection has zones. */
    z.strictObject({
      at: time,
      do: z.literal('reshard'),
      ns,
      key: shardKey,
      numInitialChunks: whole(1, 10_000).optional(),
      zones: z.array(z.strictObject({ min: document, max: document, zone: z.string().min(1) })).optional(),
    }),
    /** Changes all loads of a collection, or the one with this name. */
    z.strictObject({ at: time, do: z.literal('workload'), ns, name: z.string().optional(), rate: load }),
    z.strictObject({ at: time, do: z.literal('heal') }),
    /**
     * Sent to a mongos. `fails`: the command must fail with this code. `answers`: required values
     * of the reply by path.
     */
    z.strictObject({
      at: time,
      do: z.literal('command'),
      db: z.string().default('admin'),
      command: document.refine((command) => Object.keys(command).length > 0, 'must not be empty'),
      fails: whole(1, 2 ** 31 - 1).optional(),
      answers: document.refine((paths) => Object.keys(paths).length > 0, 'must have at least one path').optional(),
    }),
  ],
  `must be a fault or one of ${timelineActions.join(', ')}`,
)
const fault = z.strictObject({ at: time, do: z.string() })
const timelineWords = [...timelineActions, ...faultForms.map((form) => form.split(' ')[0]!)]
const timelineEntry = z
  .unknown()
  .transform((value, context): z.infer<typeof action> | (z.infer<typeof fault> & { readonly fault: true }) => {
    const name = (value as { do?: unknown } | null)?.do
    const isAction = typeof name !== 'string' || (timelineActions as readonly string[]).includes(name)
    // A single word is a misspelt action rather than a fault.
    if (!isAction && /^\w+$/.test(name) && !faultForms.some((form) => form.split(' ')[0] === name)) {
      context.addIssue({
        code: 'custom',
        path: ['do'],
        message: [
          `${name} is neither a fault nor one of ${timelineActions.join(', ')}`,
          suggestion(name, timelineWords),
        ]
          .filter((part) => part !== null)
          .join('; '),
      })
      return z.NEVER
    }
    const parsed = (isAction ? action : fault).safeParse(value)
    if (parsed.success) return isAction ? (parsed.data as z.infer<typeof action>) : { ...parsed.data, fault: true }
    for (const issue of parsed.error.issues) context.addIssue({ ...issue, path: issue.path })
    return z.NEVER
  })
export type TimelineEntry = z.infer<typeof timelineEntry>

const collection = z.strictObject({
  ns,
  key: shardKey,
  /** Distributions of an application's fields, which stay the same under another key. */
  fields: byField(keysSchema, 'must be fields with their distributions').optional(),
  /** Further indexes. */
  indexes: z
    .array(
      byField(
        z.union([z.literal(1), z.literal(-1), z.literal('hashed')], 'must be 1, -1 or hashed'),
        'must be an index key such as { customer: 1 }',
      ),
    )
    .default([]),
  /** Size of an entry of any index, in mode `metadata`. Default: estimated from its fields. */
  indexEntrySize: bytes.refine((size) => size <= 4096, 'must be at most 4KB').optional(),
  mode: z.enum(['documents', 'metadata'], 'must be documents or metadata').default('documents'),
  /** Primary shard of the database. Default: shard01. */
  primary: shard.optional(),
  unique: z.boolean().default(false),
  /** false: unsharded; the key only defines fields of documents. */
  sharded: z.boolean().default(true),
  /**
   * Values of the key's first field at which the empty collection is split. Shards get the chunks
   * in turn.
   */
  splitAt: z.array(z.union([z.number(), z.string()], 'must be a number or a text')).default([]),
  /** For hashed collections. Default: the version's. */
  numInitialChunks: whole(1, 10_000_000).optional(),
  /** Set by `configureCollectionBalancing`. */
  chunkSize: megabytes.optional(),
})
export type CollectionSource = z.infer<typeof collection>

const data = z.strictObject({
  ns,
  size: bytes,
  documentSize: documentSize.default(1024),
  /** Values of the key's first field, for collections without `fields`. */
  keys: keysSchema.optional(),
})
export type DataSource = z.infer<typeof data>

const workload = z.strictObject({
  ns,
  name: z.string().optional(),
  /** Of `mix` or `operations`. */
  rate: load.optional(),
  /** Inserts, as bytes of documents. */
  growth: growth.optional(),
  /** Deletes of the oldest documents on the shards, as by a TTL index: bytes of documents. */
  expiry: growth.optional(),
  from: time.default(0),
  /** Default: the end. */
  to: time.optional(),
  mix: mixSchema.optional(),
  operations: operationsSchema.optional(),
  /** As for `data`. */
  keys: keysSchema.optional(),
  /** Of inserted documents. Default: as in `data`. */
  documentSize: documentSize.optional(),
  /** Values of the key's first field that a `findRange` spans. Default 100. */
  rangeKeys: number.optional(),
  allowPartialResults: z.boolean().default(false),
})
export type WorkloadSource = z.infer<typeof workload>

export const scenarioSchema = z.strictObject({
  version: z.literal(1, 'must be 1'),
  shows: z.string().optional(),
  seed: whole(0, 2 ** 32 - 1).default(1),
  emulate: z
    .enum(
      emulatedVersions as unknown as [string, ...string[]],
      `must be one of ${emulatedVersions.join(', ')}, in quotes`,
    )
    .default('7.0'),
  cluster: z
    .strictObject({
      shards: whole(1, 1000).default(3),
      mongos: whole(1, 100).default(1),
      /** Of each shard and of the config server. */
      members: whole(1, 7).default(1),
      chunkSize: bytes.refine((size) => size >= 1024 && size <= 1024 ** 3, 'must be from 1KB to 1GB').optional(),
      zones: z
        .record(z.string(), z.array(shard))
        .refine((zones) => !('' in zones), 'must not have a zone without a name')
        .default({}),
      /** Default: as in the emulated version. */
      autoSplit: z.boolean('must be true or false').optional(),
      orphanCleanupDelay: time.refine((ms) => ms % 1000 === 0, 'must be a whole number of seconds').optional(),
      /** Bytes per second, in mode `metadata`. Default 100MB/s. */
      migrationBandwidth: bandwidth.optional(),
    })
    .prefault({}),
  collections: z.array(collection).min(1, 'must have at least one collection'),
  data: z.array(data).default([]),
  workload: z.array(workload).default([]),
  timeline: z.array(timelineEntry).default([]),
  duration: time.refine((ms) => ms >= 1000, 'must be at least 1s'),
  /** Between samples. Default: a 200th of the duration. */
  tick: time.refine((ms) => ms >= 100, 'must be at least 100ms').optional(),
  expect: z.array(z.string()).default([]),
  /**
   * Path of a module, relative to the scenario file, whose default export replaces the server's
   * policy.
   */
  policy: z.string().min(1).optional(),
})
export type ScenarioSource = z.infer<typeof scenarioSchema>
