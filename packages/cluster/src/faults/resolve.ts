import { balancerAddress, namedSteps, type Address } from '@shardlab/actor'
import { suggestion } from '@shardlab/quantities'
import { clientsAddress, type LinkEnd, type MemberInfo } from '@shardlab/runtime'
import { addresses } from '../member-names.js'
import { OptionError } from '../option-error.js'
import type { FaultSpec } from './fault-data.js'
import type { FaultVerb, LinkVerb, MemberVerb } from './fault-verb.js'
import { phraseOf } from './grammar.js'
import { findTarget, membersOfSet, setsOf, targetNamed, type NamedTarget } from './targets/named-target.js'
import { verbNamed } from './verb-table.js'

/** A group, or members. */
export type NamedEnd = Exclude<LinkEnd, readonly unknown[]> | 'clients' | NamedTarget

export interface NamedLink {
  readonly from: NamedEnd
  readonly to: NamedEnd
}

export interface ResolvedFault {
  readonly spec: FaultSpec
  readonly verb: FaultVerb
  /** null: the fault names no member, or is on links. */
  readonly target: NamedTarget | null
  /** null: the fault is not on links. */
  readonly link: NamedLink | null
}

/** @throws OptionError */
export function resolveFault(spec: FaultSpec, members: readonly MemberInfo[]): ResolvedFault {
  const verb = verbNamed(spec.verb)!
  const target = 'target' in spec && spec.target !== undefined ? targetNamed(spec.target, members) : null
  if (verb.on === 'member') {
    checkRole(verb, target!)
    if (verb.needsOtherMembers === true) checkHasOthers(verb, target!, members)
  }
  if ('step' in spec) checkStep(spec, target)
  const named = target === null ? spec : ({ ...spec, target: target.text } as FaultSpec)
  if (!('link' in spec) || verb.on !== 'link') return { spec: named, verb, target: ofSet(verb, target), link: null }
  const link = { from: endNamed(spec.link.from, members), to: endNamed(spec.link.to, members) }
  checkLink(verb, link)
  const ends = { from: textOf(link.from), to: textOf(link.to) }
  return { spec: { ...spec, link: { ...spec.link, ...ends } } as FaultSpec, verb, target: null, link }
}

/** Whether the target or an end of the link is this member alone. */
export function dependsOnMember(member: Address, { target, link }: ResolvedFault): boolean {
  const named = link === null ? [target] : [link.from, link.to]
  return named.some((each) => each !== null && isOne(each) && each.name === member)
}

/** Some verbs concern the primary of a set alone. */
function ofSet(verb: FaultVerb, target: NamedTarget | null): NamedTarget | null {
  if (target?.choice !== 'members' || verb.on !== 'member') return target
  return { ...target, choice: verb.ofSet ?? 'members' }
}

/** @throws OptionError if the verb can strike no message on this link */
function checkLink(verb: LinkVerb, { from, to }: NamedLink): void {
  if (from === 'clients' && to === 'clients')
    throw new OptionError('clients have no links to each other; name a member.')
  if (isOne(from) && isOne(to)) checkEnds(from.name, to.name)
  const refusal = verb.refusalOf?.({ fromClients: from === 'clients', toClients: to === 'clients' }) ?? null
  if (refusal !== null) throw new OptionError(`${phraseOf(verb.verb).title}: ${refusal}.`)
  if (from !== 'clients' && to !== 'clients') return
  const other = from === 'clients' ? to : from
  if (isOne(other) && other.name === balancerAddress)
    throw new OptionError('clients have no link to the balancer; name another member.')
}

/** @throws OptionError if both ends are the same member */
export function checkEnds(from: string, to: string): void {
  if (from === to) throw new OptionError(`${from} has no link to itself; name two members.`)
}

function isOne(end: NamedEnd): end is NamedTarget {
  return typeof end !== 'string' && end.choice === null
}

function textOf(end: NamedEnd): string {
  return typeof end === 'string' ? end : end.text
}

function endNamed(name: string, members: readonly MemberInfo[]): NamedEnd {
  switch (name) {
    case 'everybody':
    case 'members':
    case 'shards':
    case 'routers':
    case 'clients':
      return name
    default: {
      const target = findTarget(name, members)
      if (target !== undefined) return target
      const ends = [...addresses(members), ...setsOf(members), 'clients', 'shards', 'routers', 'members']
      throw new OptionError(`there is no link to ${name}; links end at ${ends.join(', ')} and everybody.`)
    }
  }
}

/** In the form of the runtime, for the name `clients` too. */
export const clientsEnd: LinkEnd = [clientsAddress]

function checkRole({ verb, roles }: MemberVerb, { name, role }: NamedTarget): void {
  if (roles === undefined || roles.includes(role)) return
  // A set without sharding has no other members.
  const known = roles.filter((each) => each !== 'mongod')
  throw new OptionError(`${phraseOf(verb).title}: ${name} is ${a(role)}; name ${known.map(a).join(' or ')}.`)
}

function checkHasOthers({ verb }: MemberVerb, { name }: NamedTarget, members: readonly MemberInfo[]): void {
  const set = members.find(({ address }) => address === name)?.set ?? name
  if (membersOfSet(set, members).length > 1) return
  throw new OptionError(
    `${phraseOf(verb).title}: ${set} has one member, which copies nothing. Start it with several members.`,
  )
}

function checkStep({ verb, step }: { readonly verb: string; readonly step: string }, target: NamedTarget | null): void {
  if (!(namedSteps as readonly string[]).includes(step)) {
    const protocol = step.slice(0, step.lastIndexOf('.') + 1)
    const alike = namedSteps.filter((name) => protocol !== '' && name.startsWith(protocol))
    const hint =
      alike.length > 0
        ? `this protocol has ${alike.join(', ')}`
        : `the protocols are ${[...new Set(namedSteps.map(protocolOf))].join(', ')}`
    throw new OptionError(`unknown step: ${step}; ${suggestion(step, namedSteps) ?? `${hint}.`}`)
  }
  const role = step.startsWith('config.') ? 'config-server' : step.slice(0, step.indexOf('.'))
  if (target !== null && roleOf(target) !== role)
    throw new OptionError(
      `${phraseOf(verb).title}: ${target.name} is ${a(target.role)}, which does not reach ${step}; name ${a(role)}.`,
    )
}

const roleOf = ({ role }: NamedTarget): string => role.replace('-of-sets', '')

function a(role: string): string {
  if (role === 'config-server') return 'the config server'
  return role === 'mongod' ? 'a member of a replica set' : `a ${role.replace('-of-sets', '')}`
}

function protocolOf(step: string): string {
  return step.slice(0, step.lastIndexOf('.'))
}
