export interface CheckResult {
  readonly name: string
  /** `problem`: something will fail. `note`: it may surprise. */
  readonly status: 'fine' | 'note' | 'problem'
  /** What was found and, unless it is fine, what to do. */
  readonly text: string
}

export const fine = (name: string, text: string): CheckResult => ({ name, status: 'fine', text })
export const note = (name: string, text: string): CheckResult => ({ name, status: 'note', text })
export const problem = (name: string, text: string): CheckResult => ({ name, status: 'problem', text })
