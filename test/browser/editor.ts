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

/** Around the nodes of a picture; the name of a node stands below it. */
const MARGIN = 30;
const MARGIN_BELOW = 46;

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

	/** The whole of the workflow that is on the screen, and nothing around it. */
	async canvasPicture(folder: string, name: string): Promise<void> {
		await mkdir(folder, { recursive: true });
		await this.page.getByTestId('zoom-to-fit').click();
		await this.page.waitForLoadState('networkidle');
		await this.page.waitForTimeout(700);
		const nodes = await this.page.locator('.vue-flow__node').all();
		const boxes = await Promise.all(nodes.map(async (one) => await one.boundingBox()));
		const [lefts, tops, rights, bottoms] = [
			boxes.map((box) => box?.x ?? 0),
			boxes.map((box) => box?.y ?? 0),
			boxes.map((box) => (box?.x ?? 0) + (box?.width ?? 0)),
			boxes.map((box) => (box?.y ?? 0) + (box?.height ?? 0)),
		];
		const [x, y] = [Math.min(...lefts) - MARGIN, Math.min(...tops) - MARGIN];
		const width = Math.max(...rights) + MARGIN - x;
		const height = Math.max(...bottoms) + MARGIN_BELOW - y;
		const path = join(folder, `${name}.png`);
		await this.page.screenshot({ path, clip: { x, y, width, height } });
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
