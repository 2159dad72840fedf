import type { SourceFile } from './repository.js'
import { tokenize, type Comment, type Token } from './tokens.js'

/**
 * A stretch of text that people read: a paragraph of a comment or page, a table cell, a test name.
 */
export interface Passage {
  /** Code spans are blanked and line breaks are spaces, so that offsets still give lines. */
  readonly text: string
  /** Where lines begin in `text`, ascending. */
  readonly lineStarts: readonly LineStart[]
  readonly isTestName: boolean
}

interface LineStart {
  readonly offset: number
  /** From 1. */
  readonly line: number
}

interface Line {
  readonly text: string
  readonly line: number
}

/** The line of the character at an offset of a passage. */
export function lineAt(passage: Passage, offset: number): number {
  return passage.lineStarts.findLast((start) => start.offset <= offset)!.line
}

/** The passages of a Markdown page, or of the comments and test names of a program. */
export function passagesOf(file: SourceFile): Passage[] {
  if (file.path.endsWith('.md')) return passagesOfLines(linesOutsideFences(file.text))
  const comments: Comment[] = []
  const tokens = tokenize(file.text, file.path, (comment) => comments.push(comment))
  return [...blocksOf(comments).flatMap(passagesOfLines), ...testNames(tokens)]
}

function linesOutsideFences(text: string): Line[] {
  let inFence = false
  return text.split('\n').map((content, i): Line => {
    const isFence = /^\s*```/.test(content)
    if (isFence) inFence = !inFence
    return { text: isFence || inFence ? '' : content, line: i + 1 }
  })
}

/**
 * Comments without their marks; line comments that follow each other at one column are one block.
 */
function blocksOf(comments: readonly Comment[]): Line[][] {
  const blocks: Line[][] = []
  let previous: Comment | undefined
  for (const comment of comments) {
    if (comment.text.startsWith('/*')) {
      const inner = comment.text.replace(/^\/\*+/, '').replace(/\*\/$/, '')
      blocks.push(inner.split('\n').map((text, i) => ({ text: text.replace(/^\s*\* ?/, ''), line: comment.line + i })))
    } else {
      const line = { text: comment.text.slice(2), line: comment.line }
      const follows =
        previous?.text.startsWith('//') && previous.line === comment.line - 1 && previous.column === comment.column
      if (follows) blocks.at(-1)!.push(line)
      else blocks.push([line])
    }
    previous = comment
  }
  return blocks
}

const startsPassage = /^\s*(?:[-*+] |\d+[.)] |#+ |> |@\w+)/

/**
 * Blank lines, list items, headings and JSDoc tags begin a passage; each cell of a table is one.
 */
function passagesOfLines(lines: readonly Line[]): Passage[] {
  const passages: Passage[] = []
  let open: Line[] = []
  const close = (): void => {
    if (open.length > 0) passages.push(passageOf(open))
    open = []
  }
  for (const line of lines) {
    if (line.text.trim() === '') close()
    else if (/^\s*\|/.test(line.text)) {
      close()
      for (const cell of withoutCode(line.text).split('|'))
        if (cell.trim() !== '') passages.push(passageOf([{ text: cell, line: line.line }]))
    } else {
      if (startsPassage.test(line.text)) close()
      open.push({ text: line.text.replace(startsPassage, ''), line: line.line })
    }
  }
  close()
  return passages
}

function passageOf(lines: readonly Line[], isTestName = false): Passage {
  const lineStarts: LineStart[] = []
  let text = ''
  for (const line of lines) {
    if (text !== '') text += ' '
    lineStarts.push({ offset: text.length, line: line.line })
    text += line.text.trim()
  }
  return { text: withoutCode(text), lineStarts, isTestName }
}

/** Code spans and the targets of links become as many `x`. */
const withoutCode = (text: string): string =>
  text.replaceAll(/`[^`]*`|\]\([^)\s]*\)/g, (span) => 'x'.repeat(span.length))

function testNames(tokens: readonly Token[]): Passage[] {
  return tokens.flatMap((token, i): Passage[] => {
    const name = tokens[i + 2]
    if (token.kind !== 'name' || token.text !== 'test' || tokens[i + 1]?.text !== '(') return []
    if (name?.kind === 'string') return [passageOf([{ text: name.text, line: name.line }], true)]
    return name?.kind === 'template' ? [passageOf([{ text: templateText(tokens, i + 2), line: name.line }], true)] : []
  })
}

/** The literal pieces of a template, with `x` for each placeholder. */
function templateText(tokens: readonly Token[], first: number): string {
  const pieces: string[] = []
  let depth = 0
  for (let i = first; i < tokens.length; i++) {
    const { kind, text } = tokens[i]!
    const isMark = kind === 'punctuation'
    if (isMark && (text === '${' || text === '{')) depth++
    else if (isMark && text === '}') depth--
    else if (depth === 0 && kind === 'template') pieces.push(text)
    else if (depth === 0) break
  }
  return pieces.join('x')
}
