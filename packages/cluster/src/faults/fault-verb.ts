import type { Address } from '@shardlab/actor'
import type { z } from 'zod'
import type { FaultLink, FaultWorld, RunningFault } from './fault-world.js'
import type { Shapes } from './shapes.js'

/** Whether each end of the link consists of clients only. */
export interface LinkOfClients {
  readonly fromClients: boolean
  readonly toClients: boolean
}

/** A crash ends with a start of its member, a pause with any end of the process. */
export type EndingEvent = 'start of the member' | 'end of the process'

type SpecSchema = z.ZodType<{ readonly verb: string }>

export interface Verb<Schema extends SpecSchema> {
  readonly verb: z.output<Schema>['verb']
  /**
   * The text of a fault without filters. Parser, formatter, examples and the grammar's page are
   * made from it: `{name=example}` is a value (`placeholders` in phrase.ts), `[…]` is optional.
   */
  readonly phrase: string
  /** Another text, with the same meaning as these data. */
  readonly shortcut?: { readonly phrase: string; readonly data: Readonly<Record<string, unknown>> }
  /** The members do not answer clients. A fault that comes through one of them begins later. */
  readonly silences?: true
  /** For the reference page. */
  readonly effect: string
  /** For the reference page. Empty: the effect ends. */
  readonly healing: string
  /** A function, because zod is loaded with the first fault. */
  schema(shapes: Shapes): Schema
}

export interface MemberVerb<Schema extends SpecSchema = SpecSchema> extends Verb<Schema> {
  readonly on: 'member'
  /** Default: all. */
  readonly roles?: readonly string[]
  /** The members that the name of a set means. Default: all. */
  readonly ofSet?: 'primary'
  /** It means nothing for the only member of a set. */
  readonly needsOtherMembers?: true
  /** Required state of the member. Default: any. */
  readonly needs?: 'running' | 'paused'
  /** Default: the fault ends only when it is healed. */
  readonly endsWith?: EndingEvent
  /** Duration if the fault does not set one. Default: until it is healed. */
  readonly lastsMs?: number
  /** null: the fault is over at once. */
  begin(world: FaultWorld, member: Address, spec: z.output<Schema>): Promise<RunningFault | null>
}

export interface LinkVerb<Schema extends SpecSchema = SpecSchema> extends Verb<Schema> {
  readonly on: 'link'
  /** Why it cannot strike this link, as the rest of a sentence after the verb; null: it can. */
  refusalOf?(link: LinkOfClients): string | null
  begin(world: FaultWorld, link: FaultLink, spec: z.output<Schema>): Promise<RunningFault>
}

export interface StepVerb<Schema extends SpecSchema = SpecSchema> extends Verb<Schema> {
  readonly on: 'step'
  /** @param members null: every member that reaches the step */
  begin(world: FaultWorld, members: readonly Address[] | null, spec: z.output<Schema>): Promise<RunningFault>
}

export type FaultVerb<Schema extends SpecSchema = SpecSchema> = MemberVerb<Schema> | LinkVerb<Schema> | StepVerb<Schema>

/** memberVerb, linkVerb and stepVerb infer the type of a verb's data from its schema. */
export function memberVerb<Schema extends SpecSchema>(verb: Omit<MemberVerb<Schema>, 'on'>): MemberVerb<Schema> {
  return { on: 'member', ...verb }
}

export function linkVerb<Schema extends SpecSchema>(verb: Omit<LinkVerb<Schema>, 'on'>): LinkVerb<Schema> {
  return { on: 'link', ...verb }
}

export function stepVerb<Schema extends SpecSchema>(verb: Omit<StepVerb<Schema>, 'on'>): StepVerb<Schema> {
  return { on: 'step', ...verb }
}
