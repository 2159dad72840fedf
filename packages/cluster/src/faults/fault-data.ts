/** Faults as data. `test/fault-data.test.ts` compares them with the schemas of the verbs. */

interface Scheduled<Time> {
  /** Delay before the start. Default: none. */
  readonly after?: Time | undefined
  /** Duration. Default: until it is healed; a step-down lasts 10 s. */
  readonly for?: Time | undefined
}

interface OfMember<Verb extends string, Time> extends Scheduled<Time> {
  readonly verb: Verb
  /**
   * A member, a replica set, or `the primary of shard02`, `a secondary of shard02`, `the
   * secondaries of shard02`.
   */
  readonly target: string
}

/** Over at once. */
interface Instant<Verb extends string, Time> extends Omit<OfMember<Verb, Time>, 'for'> {}

interface OfLink<Verb extends string, Time, Link> extends Scheduled<Time> {
  readonly verb: Verb
  readonly link: Link
  /** Messages between members; `client.command` for messages of clients. Default: all. */
  readonly kinds?: readonly string[] | undefined
  /** Number of messages that it strikes. Default: no limit. */
  readonly first?: number | undefined
  /** For each message, more than 0 and at most 1. Default 1. */
  readonly probability?: number | undefined
  /** For the draws of `probability`. Default: drawn from the cluster's seed. */
  readonly seed?: number | undefined
}

/**
 * Each end is as a target of {@link OfMember}, or `clients`, `shards`, `routers`, `members` or
 * `everybody`.
 */
interface OneWay {
  readonly from: string
  readonly to: string
}

interface OfStep<Verb extends string, Time> extends Scheduled<Time> {
  readonly verb: Verb
  /** Such as `shard.migration.committing`. */
  readonly step: string
  /** As of {@link OfMember}. Default: every member that reaches the step. */
  readonly target?: string | undefined
  /** Number of members that it strikes. Default: no limit. */
  readonly first?: number | undefined
}

type Fault<Time, Rate, Size, Link> =
  | OfMember<
      'crash' | 'destroy' | 'stop' | 'pause' | 'stepDown' | 'fullDisk' | 'freezeRoutes' | 'stallRangeDeleter',
      Time
    >
  | Instant<'restart' | 'resume', Time>
  | (OfMember<'slow', Time> & { readonly factor: number })
  | (OfMember<'slowDisk' | 'skewClock' | 'jumpClock' | 'delayReplication', Time> & { readonly by: Time })
  | (OfMember<'shrinkOplog', Time> & { readonly to: Size })
  | OfLink<'partition' | 'drop' | 'duplicate', Time, Link>
  | (OfLink<'delay', Time, Link> & { readonly by: Time; readonly upTo?: Time | undefined })
  | (OfLink<'limit', Time, Link> & { readonly to: Rate })
  | OfLink<'refuse' | 'cut', Time, OneWay>
  | OfStep<'hold' | 'fail' | 'crashAt', Time>

/** As a caller writes it, with texts such as `5s` and `10MB/s`. */
export type FaultInput = Fault<string, string, string, OneWay & { readonly bothWays?: boolean | undefined }>
/** With times in milliseconds, sizes in bytes, rates in bytes a second, and defaults filled in. */
export type FaultSpec = Fault<number, number, number, OneWay & { readonly bothWays: boolean }>
export type FaultVerbName = FaultSpec['verb']
