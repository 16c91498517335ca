// The type-aware rules. n8n's own command wants eslint.config.mjs untouched, so they stand here.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

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
		// Plain logic knows no n8n: it can be read, tested and reused without one.
		files: ['nodes/shared/service/**/*.ts'],
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
		files: ['nodes/shared/**/*.ts'],
		rules: {
			'no-restricted-syntax': [
				'error',
				{
					selector: 'ImportDeclaration[source.value=/\\.node$/]',
					message: 'Dependencies point one way: node, then shared.',
				},
			],
		},
	},
);
