import { html, type TemplateResult } from 'lit-html'
import type { PageLogin } from '../server/target.js'

export function loginForm(logIn: (login: PageLogin) => Promise<void>): TemplateResult {
  const submit = (event: Event): void => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    const field = (name: string): string => String(form.get(name) ?? '')
    void logIn({ user: field('user'), password: field('password'), source: field('source') })
  }
  return html`<h1>Log in</h1>
    <p>The cluster has access control. The user needs the role root.</p>
    <p class="soft">A new cluster has no user: create one in mongosh on this machine, without a login.</p>
    <form class="login" @submit=${submit}>
      <label>User <input name="user" autocomplete="username" required /></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
      <label>Database of the user <input name="source" value="admin" required /></label>
      <button type="submit" class="main">Log in</button>
    </form>`
}
