// The type-aware rules. They have their own file because n8n's command needs an unchanged eslint.config.mjs.
import path from 'node:path';
import { defineConfig, globalIgnores } from 'eslint/config';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import jest from 'eslint-plugin-jest';
import redos from 'eslint-plugin-redos';
import tseslint from 'typescript-eslint';

/** Plain logic without imports from n8n. */
const PLAIN = [
	'nodes/core/**/*.ts',
	'nodes/PlaceCall/{callTime,notPlaced}.ts',
	'nodes/PushCampaignContacts/{push,file}/*.ts',
	'nodes/CampaignCallsTrigger/pollState.ts',
];

const ADD_HINTS = {
	property: 'addExecutionHints',
	message: 'Use addHints, so that a model is told, too.',
};

/** The system clock can change while a workflow runs, and tests set the time. */
const USE_CLOCK = 'Use clock.now() for dates, and clock.elapsed() for durations.';
const CLOCK_PROPERTIES = [
	{ object: 'Date', property: 'now', message: USE_CLOCK },
	{ object: 'DateTime', property: 'now', message: USE_CLOCK },
];
const CLOCK_SYNTAX = [
	{
		selector:
			"NewExpression[callee.name='Date'][arguments.length=0], CallExpression[callee.object.name='DateTime'][callee.property.name=/^(local|utc)$/][arguments.length=0], CallExpression[callee.name='moment'][arguments.length=0]",
		message: USE_CLOCK,
	},
	{
		selector:
			"ArrowFunctionExpression[params.length=0] > CallExpression.body[callee.object.name='clock'][callee.property.name=/^(now|elapsed)$/]",
		message: 'Pass the clock on, not a function for the time.',
	},
];

/** This file builds patterns from parts, which the rule can't check. test/growth measures them. */
const BUILD_PATTERNS = ['nodes/core/values/text.ts'];

/** The folders that nodes share. Each one imports only from itself and those before it. */
const ROOMS = [
	...['core/values', 'core/service', 'core/claims', 'core/profile', 'core/phone', 'core/calls'],
	...['core/campaigns'],
	...['core/chat', 'core', 'core/dnd'],
	...['host', 'host/caller', 'host/execution', 'host/http', 'host/forms'],
	...['host/claims', 'host/run', 'host/triggers'],
];

const pathOf = (file) =>
	path.relative(path.join(import.meta.dirname, 'nodes'), file).split(path.sep);

/** The room of a file, or its node. Undefined if it's in neither. */
function roomOf(file) {
	const [first = '', second = '', third] = pathOf(file);
	if (first === '..' || second === '') return undefined;
	if (first !== 'core' && first !== 'host') return first;
	return third === undefined ? first : `${first}/${second}`;
}

/** A node imports from `core`, `host`, and its own folder. Nothing else imports from a node. */
const rooms = {
	meta: { type: 'problem', schema: [] },
	create({ filename, report }) {
		const own = roomOf(filename);
		if (own === undefined) return {};
		return {
			'ImportDeclaration, ExportNamedDeclaration[source], ExportAllDeclaration'(node) {
				const source = node.source.value;
				if (!source.startsWith('.')) return;
				const to = roomOf(`${path.resolve(path.dirname(filename), source)}.ts`);
				if (to === undefined || to === own) return;
				if (!ROOMS.includes(to)) {
					report({
						node,
						message: `Don't import from the node ${to}. Move the code to core or host.`,
					});
				} else if (ROOMS.includes(own) && ROOMS.indexOf(to) > ROOMS.indexOf(own)) {
					report({
						node,
						message: `${own} must not import from ${to}, which comes after it (ROOMS).`,
					});
				}
			},
		};
	},
};

export default defineConfig(
	globalIgnores(['dist', 'coverage', '**/*.{js,mjs,cjs,json}']),
	{ linterOptions: { noInlineConfig: true } },
	{
		files: ['**/*.ts'],
		extends: [tseslint.configs.strictTypeChecked],
		languageOptions: {
			parserOptions: { project: 'tsconfig.test.json', tsconfigRootDir: import.meta.dirname },
		},
		rules: {
			'@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
			'@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
			'@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
			'@typescript-eslint/switch-exhaustiveness-check': [
				'error',
				{ considerDefaultExhaustiveForUnions: true },
			],
			// Spreading a string gives code points, in which lengths are counted here.
			'@typescript-eslint/no-misused-spread': 'off',
			// An implementation of an asynchronous interface may have nothing to await.
			'@typescript-eslint/require-await': 'off',
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
		},
	},
	{
		// Jest's matchers (expect.any and the like) are typed as any.
		files: ['**/*.test.ts', '**/contract/cases/*.ts'],
		rules: { '@typescript-eslint/no-unsafe-assignment': 'off' },
	},
	{
		// No skipped tests, and no tests without assertions.
		files: ['test/**/*.ts'],
		plugins: { jest },
		rules: {
			'jest/no-focused-tests': 'error',
			'jest/no-disabled-tests': 'error',
			// Helpers that only assert have names like expectPlaced.
			'jest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*'] }],
			'jest/no-identical-title': 'error',
			'jest/no-standalone-expect': 'error',
			'jest/valid-expect': 'error',
			'jest/valid-expect-in-promise': 'error',
			'jest/valid-title': 'error',
			'jest/no-done-callback': 'error',
			'jest/no-test-return-statement': 'error',
			'jest/no-commented-out-tests': 'error',
			'no-restricted-syntax': [
				'error',
				{
					selector:
						'MemberExpression[object.name=/^(test|it|describe|jest)$/][property.name=/^(todo|failing|retryTimes)$/]',
					message: 'Tests must run and pass on the first attempt.',
				},
			],
		},
	},
	{
		// Plain logic doesn't import n8n, so it can be read, tested, and reused without it.
		files: PLAIN,
		// n8n's sleep is the only timer that n8n allows in nodes.
		ignores: ['nodes/core/values/pauses.ts'],
		rules: {
			'@typescript-eslint/no-restricted-imports': [
				'error',
				{
					paths: [{ name: 'n8n-workflow', message: 'Plain logic must not import n8n.' }],
					patterns: [
						{ group: ['**/host/**', 'n8n-core'], message: 'Plain logic must not import n8n.' },
					],
				},
			],
		},
	},
	{
		files: ['nodes/**/*.ts', 'credentials/*.ts'],
		plugins: { package: { rules: { rooms } }, 'import-x': importX },
		settings: {
			'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
			'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts'] })],
		},
		rules: {
			'package/rooms': 'error',
			// Two files that import each other can't be read separately.
			'import-x/no-cycle': 'error',
		},
	},
	{
		files: ['nodes/**/*.ts'],
		rules: { 'no-restricted-properties': ['error', ADD_HINTS, ...CLOCK_PROPERTIES] },
	},
	{
		// Tests compare with the system clock, and one file makes the clock.
		files: ['**/*.test.ts', 'nodes/host/clock.ts'],
		rules: { 'no-restricted-properties': ['error', ADD_HINTS] },
	},
	{
		files: ['nodes/host/execution/runResult.ts'],
		rules: { 'no-restricted-properties': ['error', ...CLOCK_PROPERTIES] },
	},
	{
		files: ['nodes/**/*.ts', 'credentials/*.ts'],
		ignores: ['**/*.test.ts'],
		plugins: { redos },
		rules: {
			// If matching takes time quadratic in the length of the text, anyone who can send text can stop n8n.
			// Counts steps. A limit of time would find that in any pattern on a busy machine.
			'redos/no-vulnerable': [
				'error',
				{
					ignoreErrors: false,
					cache: true,
					timeout: null,
					attackTimeout: null,
					incubationTimeout: null,
					seedingTimeout: null,
				},
			],
		},
	},
	{
		files: ['nodes/**/*.ts', 'credentials/*.ts'],
		ignores: ['**/*.test.ts', ...BUILD_PATTERNS],
		rules: {
			'no-restricted-syntax': [
				'error',
				...CLOCK_SYNTAX,
				{
					selector: "NewExpression[callee.name='RegExp'], CallExpression[callee.name='RegExp']",
					message: 'Write the pattern as a literal so that it is checked.',
				},
				{
					selector: "MemberExpression[property.name='normalize']",
					message:
						'Use normalized() from core/values/text.ts. This takes time quadratic in the length.',
				},
			],
		},
	},
	{
		files: BUILD_PATTERNS,
		rules: { 'no-restricted-syntax': ['error', ...CLOCK_SYNTAX] },
	},
);
