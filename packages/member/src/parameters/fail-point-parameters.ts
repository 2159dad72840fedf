import type { ParameterOwner, ParameterRow } from './parameter.js'

export const failPointPrefix = 'failpoint.'

/** `failpoint.NAME` shows a fail point. Server: fail_point.cpp, FailPointServerParameter. */
export function failPointParameters({ failPoints, behaviours }: ParameterOwner): ParameterRow[] {
  return [...failPoints].map((failPoint) => ({
    name: failPointPrefix + failPoint.name,
    type: 'document',
    initial: '',
    settableAtRuntime: false,
    settableAtStartup: true,
    write: (writer, name) => failPoint.write(writer, name, behaviours.failPointCounts),
  }))
}
