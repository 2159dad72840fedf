import type { ChildProcess } from 'node:child_process'

const children = new Set<ChildProcess>()

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Ends the child when this process ends, as after a failed test or an interrupted bench. */
export function childOfTest<C extends ChildProcess>(child: C): C {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}
