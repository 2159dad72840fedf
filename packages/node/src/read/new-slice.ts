import { TimeSlice } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'

/** The first slice of an operation, with the limits that the parameters set now. */
export function newSlice({ context, parameters }: Pick<NodeHost, 'context' | 'parameters'>): TimeSlice {
  return new TimeSlice(context, {
    works: parameters.number('internalQueryExecYieldIterations'),
    periodMs: parameters.number('internalQueryExecYieldPeriodMS'),
  })
}
