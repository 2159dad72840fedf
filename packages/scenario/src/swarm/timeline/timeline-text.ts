import type { TimelineEntry } from '../types.js'

/** Lines before the violation in a text; the JSON and the page have all. */
const linesMax = 80

const marks: Readonly<Record<TimelineEntry['kind'], string>> = {
  command: '>',
  answer: '<',
  step: '.',
  fault: '!',
  member: '!',
  catalog: '=',
  violation: 'X',
}

/**
 * If the violation is about documents, only the commands that name them. Others have a mark: `>`
 * and `<` command and answer, `.` step, `=` catalog, `!` fault, `X` violation.
 */
export function timelineText(entries: readonly TimelineEntry[]): string[] {
  const areDocumentsKnown = entries.some(({ ofDocument }) => ofDocument)
  const shown = entries.filter(({ operation, ofDocument }) => operation === null || ofDocument || !areDocumentsKnown)
  const lines = shown.slice(-linesMax).map(({ atMs, kind, member, text }) => {
    const who = member === '' ? '' : `${member}  `
    return `${atMs.toFixed(1).padStart(10)} ms ${marks[kind]} ${who}${text}`
  })
  const dropped = entries.length - lines.length
  return dropped > 0 ? [`(${dropped} more in --json and --report)`, ...lines] : lines
}
