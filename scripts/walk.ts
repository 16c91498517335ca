/**
 * `npm run walk`: executes *First steps* of `npm start` in a browser, and saves it as an animated picture for
 * the README and docs/for-reviewers.md. Needs Chromium, and `img2webp` of Debian's package `webp`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from '../test/browser/editor';
import { installPackage, projectFolder } from '../test/n8n/package-install';
import { freePort } from '../test/n8n/ports';
import { build } from './build';
import { startStack, type Stack } from './stack';

const SCREEN = { width: 1440, height: 860 };
const PICTURE = join(projectFolder, 'docs', 'images', 'walk.webp');

/** A picture, and how long it's shown. */
type Frame = { file: string; ms: number };

class Recording {
	private readonly frames: Frame[] = [];

	constructor(
		private readonly editor: Editor,
		private readonly folder: string,
	) {}

	async show(ms: number): Promise<void> {
		const name = `frame-${String(this.frames.length).padStart(2, '0')}`;
		await this.editor.screenshot(this.folder, name);
		this.frames.push({ file: join(this.folder, `${name}.png`), ms });
	}

	save(target: string): void {
		const inputs = this.frames.flatMap(({ file, ms }) => ['-d', String(ms), file]);
		const options = ['-loop', '0', '-lossy', '-q', '70', '-m', '6'];
		const { status, error } = spawnSync('img2webp', [...options, ...inputs, '-o', target], {
			stdio: 'inherit',
		});
		if (status !== 0) throw error ?? new Error(`img2webp ended with ${status}`);
	}
}

async function record({ firstSteps }: Stack, editor: Editor, folder: string) {
	const { page } = editor;
	const recording = new Recording(editor, folder);
	await page.setViewportSize(SCREEN);
	await editor.openWorkflow(firstSteps.id);
	await page.getByTestId('zoom-to-fit').click();
	await recording.show(2_500);
	await page.getByTestId('execute-workflow-button').click();
	await page.getByText('Workflow executed successfully').first().waitFor();
	await recording.show(2_500);
	await editor.openNode('Push Campaign Contacts');
	await editor.readOutput('ready');
	await recording.show(4_000);
	await page.getByText('Rejected Branch').click();
	await editor.readOutput('rejection_reason');
	await recording.show(4_000);
	return recording;
}

async function walk(): Promise<void> {
	build(console.log);
	const home = await mkdtemp(join(tmpdir(), 'walk-'));
	const port = await freePort();
	const stack = await startStack({ home, port, install: installPackage }, console.log);
	try {
		const editor = await Editor.open(stack.n8n);
		try {
			(await record(stack, editor, join(home, 'frames'))).save(PICTURE);
		} finally {
			await editor.close();
		}
	} finally {
		await stack.stop();
		await rm(home, { recursive: true, force: true });
	}
}

void walk();
