/** n8n's editor in a real browser. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, selectors, type BrowserContext, type Page } from 'playwright-core';
import { owner } from '../n8n/driver';

const flags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

export class Editor {
	private constructor(
		private readonly context: BrowserContext,
		private readonly profile: string,
		readonly page: Page,
		private readonly baseUrl: string,
	) {}

	/** Starts Chromium with an empty profile and signs in. */
	static async open(baseUrl: string): Promise<Editor> {
		selectors.setTestIdAttribute('data-test-id');
		const profile = await mkdtemp(join(tmpdir(), 'chromium-'));
		const context = await chromium.launchPersistentContext(profile, {
			executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
			headless: true,
			args: flags,
			viewport: { width: 1440, height: 1000 },
		});
		const page = context.pages()[0] ?? (await context.newPage());
		const editor = new Editor(context, profile, page, baseUrl);
		await editor.signIn();
		return editor;
	}

	async close(): Promise<void> {
		await this.context.close();
		await rm(this.profile, { recursive: true, force: true });
	}

	async openWorkflow(id: string): Promise<void> {
		await this.page.goto(`${this.baseUrl}/workflow/${id}`);
		await this.page.getByTestId('canvas-node').first().waitFor();
	}

	/** Opens the panel of a node of the workflow or execution that is on the screen. */
	async openNode(name: string): Promise<void> {
		const node = this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
		await node.dblclick();
		await this.page.getByTestId('ndv').waitFor();
	}

	/** Shows a finished execution and opens the panel of one of its nodes, with what went in and out. */
	async openExecution(workflowId: string, executionId: string, nodeName: string): Promise<void> {
		await this.page.goto(`${this.baseUrl}/workflow/${workflowId}/executions/${executionId}`);
		await this.openNode(nodeName);
	}

	async openCredential(id: string): Promise<void> {
		await this.page.goto(`${this.baseUrl}/home/credentials/${id}`);
		await this.page.getByTestId('editCredential-modal').waitFor();
	}

	async screenshot(folder: string, name: string): Promise<void> {
		await mkdir(folder, { recursive: true });
		// Lists and expressions fill in after the panel has opened.
		await this.page.waitForLoadState('networkidle');
		await this.page.waitForTimeout(700);
		await this.page.screenshot({ path: join(folder, `${name}.png`) });
	}

	private async signIn(): Promise<void> {
		await this.page.goto(`${this.baseUrl}/signin`);
		await this.page
			.locator('input[type="email"], input[autocomplete="email"]')
			.first()
			.fill(owner.email);
		await this.page.locator('input[type="password"]').fill(owner.password);
		await this.page.getByRole('button', { name: 'Sign in' }).click();
		await this.page.waitForURL((url) => !url.pathname.startsWith('/signin'));
	}
}
