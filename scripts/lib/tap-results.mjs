const point = /^( *)(not )?ok\b(?: \d+)?(?: - | )?(.*)$/
const directive = /(?<!\\)# (SKIP|TODO)\b ?(.*?)(?: # time=\S+)?$/i

/**
 * Counts the results in a TAP stream, line by line. Assertions count. The summary line of a subtest
 * or a file counts only when it failed without a failed assertion: a crash, a timeout, a wrong
 * plan.
 */
export class TapResults {
  passed = 0
  failed = 0
  skipped = 0
  #onSkip
  #onFile
  #onFailure
  /** By depth: titles of the open subtests, and the points since the subtest's parent began. */
  #titles = []
  #points = []
  #failures = []
  /** Indentation of the diagnostics that follow the last point; null outside of them. */
  #diagnosticsIndent = null
  #diagnostics = []
  #pending = null
  #fileStart = { passed: 0, failed: 0 }

  /**
   * @param {{
   *   onFile?: (file: {
   *     name: string, ok: boolean, passed: number, failed: number, timeMs: number,
   *   }) => void,
   *   onFailure?: (failure: { path: string[], diagnostics: string[] }) => void,
   *   onSkip?: (skipped: { path: string[], reason: string }) => void,
   * }} [listeners] files, failures and skipped tests as they end
   */
  constructor(listeners = {}) {
    this.#onFile = listeners.onFile ?? (() => {})
    this.#onFailure = listeners.onFailure ?? (() => {})
    this.#onSkip = listeners.onSkip ?? (() => {})
  }

  /** @param {string} line without its end */
  line(line) {
    if (this.#diagnosticsIndent !== null) {
      if (line === `${this.#diagnosticsIndent}...`) this.#diagnosticsIndent = null
      else this.#diagnostics.push(line.slice(this.#diagnosticsIndent.length))
      return
    }
    if (this.#pending !== null && line === `${this.#pending.indent}  ---`) {
      this.#diagnosticsIndent = `${this.#pending.indent}  `
      return
    }
    const title = /^( *)# Subtest: (.*)$/.exec(line)
    if (title !== null) {
      this.#flush()
      this.#titles[title[1].length / 4] = title[2]
      return
    }
    const found = point.exec(line)
    if (found === null || found[1].length % 4 !== 0) return
    this.#flush()
    this.#count(found[1], found[2] === undefined, found[3])
  }

  /** Call after the last line. */
  end() {
    this.#flush()
  }

  #count(indent, ok, text) {
    const depth = indent.length / 4
    const isSummary = (this.#points[depth + 1] ?? 0) > 0
    const failuresBelow = this.#failures[depth + 1] ?? 0
    const excuse = directive.exec(text)
    const excused = excuse !== null
    const failed = !ok && !excused
    this.#points.length = this.#failures.length = depth + 1
    this.#points[depth] = (this.#points[depth] ?? 0) + 1
    this.#failures[depth] = (this.#failures[depth] ?? 0) + (failed ? 1 : 0)
    const timeMs = Number(/ # time=(\S+)ms(?: \{)?$/.exec(text)?.[1] ?? 0)
    const name = text.replace(/ # time=\S+$/, '').replace(/ \{$/, '')
    if (isSummary ? failed && failuresBelow === 0 : failed) {
      this.failed++
      this.#pending = { indent, path: [...this.#titles.slice(0, depth), name] }
    } else if (!isSummary && excused) {
      this.skipped++
      this.#onSkip({ path: [...this.#titles.slice(0, depth), name.replace(directive, '').trim()], reason: excuse[2] })
    }
    if (!isSummary && !failed && !excused) this.passed++
    if (depth > 0) return
    this.#onFile({
      name,
      ok: !failed,
      passed: this.passed - this.#fileStart.passed,
      failed: this.failed - this.#fileStart.failed,
      timeMs,
    })
    this.#fileStart = { passed: this.passed, failed: this.failed }
  }

  #flush() {
    if (this.#pending !== null) this.#onFailure({ path: this.#pending.path, diagnostics: this.#diagnostics })
    this.#pending = null
    this.#diagnostics = []
  }
}
