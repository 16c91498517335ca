// The type-aware rules. n8n's own command wants eslint.config.mjs untouched, so they stand here.
import path from 'node:path';
import { defineConfig, globalIgnores } from 'eslint/config';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import jest from 'eslint-plugin-jest';
import redos from 'eslint-plugin-redos';
import tseslint from 'typescript-eslint';

/** Where n8n is not known. */
const PLAIN = [
	'nodes/shared/{api,apiMapping,calls,chat,phone}/**/*.ts',
	'nodes/shared/*.ts',
	'nodes/shared/n8n/idempotency/firstExecution.ts',
	'nodes/GetCall/calls/*.ts',
	'nodes/PlaceCall/{ask,request}/*.ts',
	'nodes/PlaceCall/wait/{pendingCalls,readUntilFinished}.ts',
	'nodes/PushCampaignContacts/{push,file}/*.ts',
	'nodes/CampaignProgressTrigger/campaignProgress.ts',
	'nodes/CampaignStatus/campaignWait.ts',
	'nodes/Dnd/list/*.ts',
	'nodes/ChatSend/turnFault.ts',
	'nodes/ChatSession/chatWait.ts',
];

const room = (file) => /^nodes[\\/](\w+)/.exec(path.relative(import.meta.dirname, file))?.[1];

/** A node may read what is shared; nothing reads a node but that node itself. */
const arrows = {
	meta: { type: 'problem', schema: [] },
	create({ filename, report }) {
		const own = room(filename);
		if (own === undefined) return {};
		return {
			'ImportDeclaration, ExportNamedDeclaration[source], ExportAllDeclaration'(node) {
				const source = node.source.value;
				if (!source.startsWith('.')) return;
				const to = room(path.resolve(path.dirname(filename), source));
				if (to !== undefined && to !== 'shared' && to !== own) {
					report({ node, message: `${to} has rooms of its own: move what is needed to shared.` });
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
			// Lengths are counted in code points here, which is what the spread of a text gives.
			'@typescript-eslint/no-misused-spread': 'off',
			// An interface may be asynchronous where one implementation need not wait.
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
		// A test that is left out, or that looks at nothing, is no test.
		files: ['test/**/*.ts'],
		plugins: { jest },
		rules: {
			'jest/no-focused-tests': 'error',
			'jest/no-disabled-tests': 'error',
			// A helper whose whole work is to assert is named expect…
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
					message: 'A test runs, passes, and passes the first time.',
				},
			],
		},
	},
	{
		// Plain logic knows no n8n: it can be read, tested and reused without one.
		files: PLAIN,
		rules: {
			'@typescript-eslint/no-restricted-imports': [
				'error',
				{
					paths: [{ name: 'n8n-workflow', message: 'Plain logic knows no n8n.' }],
					patterns: [{ group: ['**/n8n/**', 'n8n-core'], message: 'Plain logic knows no n8n.' }],
				},
			],
		},
	},
	{
		files: ['nodes/**/*.ts', 'credentials/*.ts'],
		plugins: { house: { rules: { arrows } }, 'import-x': importX },
		settings: {
			'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
			'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts'] })],
		},
		rules: {
			'house/arrows': 'error',
			// Of two files that need each other neither can be read alone.
			'import-x/no-cycle': 'error',
		},
	},
	{
		files: ['nodes/**/*.ts', 'credentials/*.ts'],
		ignores: ['**/*.test.ts'],
		plugins: { redos },
		rules: {
			// A pattern that takes the square of a text's length lets anyone who may send text stop n8n.
			'redos/no-vulnerable': ['error', { ignoreErrors: false, cache: true }],
		},
	},
	{
		files: ['nodes/**/*.ts', 'credentials/*.ts'],
		// Their patterns are put together of parts that no rule sees: test/growth tries them.
		ignores: [
			'**/*.test.ts',
			'nodes/shared/text.ts',
			'nodes/shared/api/errorTable.ts',
			'nodes/shared/api/secrets.ts',
			'nodes/PushCampaignContacts/rowIndependent.ts',
		],
		rules: {
			'no-restricted-syntax': [
				'error',
				{
					selector: "NewExpression[callee.name='RegExp'], CallExpression[callee.name='RegExp']",
					message: 'Write the pattern as a literal, so that it is checked.',
				},
				{
					selector: "MemberExpression[property.name='normalize']",
					message: 'Use normalized() of shared/text.ts: this takes the square of the length.',
				},
			],
		},
	},
);
