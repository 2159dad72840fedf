import { stageOperators } from '@shardlab/query'
import t from 'tap'
import { sourcePrivileges, writerPrivileges } from '../src/access/pipeline-privileges.js'

t.test('every stage that reads or writes by itself has its privileges', (t) => {
  const named = (isWanted: (name: string) => boolean): string[] => [...stageOperators.keys()].filter(isWanted).sort()
  t.strictSame(
    named((name) => stageOperators.get(name)!.source !== undefined),
    Object.keys(sourcePrivileges).sort(),
  )
  t.strictSame(
    named((name) => stageOperators.get(name)!.writes === true),
    Object.keys(writerPrivileges).sort(),
  )
  t.end()
})
