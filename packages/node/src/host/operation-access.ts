/**
 * What operations do to the data of a member. The row of a command knows it, except for pipelines
 * and explain.
 */
import type { CommandArguments } from '@shardlab/actor'
import { firstFieldName } from '@shardlab/bson'
import { writingStage, type RunningOperation } from '@shardlab/member'
import type { NodeHost } from './node-host.js'

type Tables = Pick<NodeHost, 'table' | 'behaviours'>
type Operation = Pick<RunningOperation, 'command' | 'args'>

/** Whether it changes no data and is in no transaction. False while its arguments are unknown. */
export function onlyReads({ table, behaviours }: Tables, { command, args }: Operation): boolean {
  if (args === null || args.has('autocommit')) return false
  const readOf = (name: string): boolean => table.find(name, behaviours)?.access === 'read'
  if (command === 'explain') return readOf(explained(args))
  return command === 'getMore' || (readOf(command) && writingStage(command, args) === null)
}

/** Whether it writes documents or definitions. */
export function writes({ table, behaviours }: Tables, { command, args }: Operation): boolean {
  if (table.find(command, behaviours)?.access === 'write') return true
  return args !== null && writingStage(command, args) !== null
}

const explained = ({ target }: CommandArguments): string => firstFieldName(target.slice()) ?? ''
