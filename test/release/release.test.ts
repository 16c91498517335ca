/** The checks and texts of a release, on a copy of the files that they read. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { notesOf } from '../../scripts/release/changelog';
import { releaseFaults } from '../../scripts/release/faults';
import {
	filesFor,
	linkedRepositories,
	linkingFiles,
	PLACEHOLDER,
	publisherOf,
	readManifest,
} from '../../scripts/release/publisher';
import { ROOT } from '../engine/sourceLoader';

const PUBLISHER = {
	name: 'A $& Publisher',
	email: 'nodes@acme.io',
	repository: 'https://github.com/acme/voice-nodes',
};
const VERSION = readManifest(ROOT).version;

let folder = '';
const textOf = (file: string) => readFileSync(path.join(folder, file), 'utf8');
const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text);
const change = (file: string, from: string, to: string) => {
	expect(textOf(file)).toContain(from);
	write(file, textOf(file).replaceAll(from, to));
};
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });

/** A folder with everything that a release needs, and one without. Tests copy them, because git is slow. */
let prepared = '';
let unprepared = '';

beforeAll(() => {
	unprepared = mkdtempSync(path.join(tmpdir(), 'release-'));
	folders.push(unprepared);
	folder = unprepared;
	for (const file of ['package.json', 'LICENSE', 'CHANGELOG.md', ...linkingFiles(ROOT)]) {
		mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
		cpSync(path.join(ROOT, file), path.join(folder, file));
	}
	prepared = copyOf(unprepared);
	folder = prepared;
	prepareRelease();
});
afterAll(() => {
	for (const made of folders) rmSync(made, { recursive: true, force: true });
});

const folders: string[] = [];
function copyOf(original: string): string {
	const copy = mkdtempSync(path.join(tmpdir(), 'release-'));
	folders.push(copy);
	cpSync(original, copy, { recursive: true });
	return copy;
}

function enterPublisher() {
	for (const [file, text] of filesFor(folder, PUBLISHER)) write(file, text);
}

/** Everything that a release needs: a publisher, dated entries, and a commit on main. */
function prepareRelease() {
	enterPublisher();
	change('CHANGELOG.md', '## [Unreleased]', `## [Unreleased]\n\n## [${VERSION}] - 2026-12-01`);
	write('README.md', '# n8n-nodes-voice-chat-agent\n');
	git('init', '--quiet', '--initial-branch', 'main');
	git('config', 'user.name', 'Test');
	git('config', 'user.email', 'test@acme.io');
	git('add', '.');
	git('commit', '--quiet', '--message', 'Release');
	git('update-ref', 'refs/remotes/origin/main', 'HEAD');
}

const released = { tag: `v${VERSION}`, publishingRepository: 'acme/voice-nodes' };

describe('publisher', () => {
	beforeEach(() => (folder = copyOf(unprepared)));

	test('the files with links are all found', () => {
		const files = linkingFiles(ROOT);
		expect(files.filter((file) => file.endsWith('.node.json'))).toHaveLength(13);
		expect(
			files.filter((file) => linkedRepositories(readFileSync(file, 'utf8')).length > 0),
		).toEqual(files);
	});

	test('is entered in every file', () => {
		enterPublisher();
		expect(publisherOf(readManifest(folder))).toEqual(PUBLISHER);
		expect(textOf('LICENSE')).toContain(`(c) 2026 ${PUBLISHER.name}\n`);
		for (const file of linkingFiles(folder)) {
			expect(textOf(file)).not.toContain(PLACEHOLDER);
			expect(new Set(linkedRepositories(textOf(file)))).toEqual(new Set([PUBLISHER.repository]));
		}
	});
});

describe('release check', () => {
	beforeEach(() => (folder = copyOf(prepared)));

	test('nothing is found when everything is ready', () => {
		expect(releaseFaults(folder, released)).toEqual([]);
	});

	test.each(['package.json', 'nodes/Dnd/Dnd.node.json'])('a placeholder in %s is found', (file) => {
		change(file, PUBLISHER.repository, `https://${PLACEHOLDER}/voice-nodes`);
		expect(releaseFaults(folder, released).join('\n')).toContain(`${file}:`);
		expect(releaseFaults(folder, released).join('\n')).toContain('has a placeholder');
	});

	test.each<[string, string, string, string]>([
		['a link to another repository', 'nodes/Dnd/Dnd.node.json', 'acme/', 'other/'],
		['an address without a mailbox', 'package.json', 'nodes@acme.io', 'nodes@acme.example'],
		['a repository elsewhere', 'package.json', 'git+https://github.com', 'git+https://gitlab.com'],
		[
			'a home page elsewhere',
			'package.json',
			'"homepage": "https://github.com',
			'"homepage": "https://a.io',
		],
		['issues elsewhere', 'package.json', 'acme/voice-nodes/issues', 'acme/other/issues'],
		['entries without a date', 'CHANGELOG.md', ' - 2026-12-01', ''],
		['entries of another version', 'CHANGELOG.md', `[${VERSION}]`, '[9.9.9]'],
	])('%s is found', (_what, file, from, to) => {
		change(file, from, to);
		expect(releaseFaults(folder, released)).not.toEqual([]);
	});

	test('a README from before the first release is found', () => {
		write(
			'README.md',
			"**The package isn't on npm yet.** Until the first release, try it locally.\n",
		);
		expect(releaseFaults(folder, released)).toEqual([
			"README.md says that the package isn't on npm yet",
		]);
	});

	test('a tag other than the version is found', () => {
		expect(releaseFaults(folder, { ...released, tag: 'v9.9.9' })).toEqual([
			`The tag v9.9.9 isn't v${VERSION}, the version in package.json`,
		]);
	});

	test('a repository other than the publishing one is found', () => {
		const faults = releaseFaults(folder, { ...released, publishingRepository: 'fork/voice-nodes' });
		expect(faults).toEqual([
			"package.json: the repository isn't fork/voice-nodes, which publishes",
		]);
	});

	test('a commit beside main is found, and an earlier commit of main is not', () => {
		git('checkout', '--quiet', '-b', 'later');
		git('commit', '--quiet', '--allow-empty', '--message', 'Beside main');
		expect(releaseFaults(folder, released)).toEqual([`The tag v${VERSION} isn't on main`]);
		git('update-ref', 'refs/remotes/origin/main', 'HEAD');
		git('checkout', '--quiet', 'main');
		expect(releaseFaults(folder, released)).toEqual([]);
	});
});

describe('notes', () => {
	const changelog = [
		'# Changelog',
		'## [Unreleased]\n\n- Not yet',
		'## [1.2.0] - 2026-12-01\n\n### Added\n\n- A node',
		'## [1.1.0] - 2026-11-01\n\n- A field\n',
		'## [1.0.0]\n\n- Undated',
		'## [0.9.0] - 2026-10-01\n',
	].join('\n\n');

	test.each([
		['1.2.0', '### Added\n\n- A node'],
		['1.1.0', '- A field'],
	])('%s has its own entries', (version, notes) => {
		expect(notesOf(changelog, version)).toBe(notes);
	});

	test.each(['1.0.0', '0.9.0', '1.2', 'Unreleased'])('%s has none', (version) => {
		expect(notesOf(changelog, version)).toBeUndefined();
	});
});
