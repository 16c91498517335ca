import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PLACEHOLDERS, profileSchema, readProfile } from '../../../../nodes/core/profile/schema';
import { ServiceProfile, type ValuesOf } from '../../../../nodes/core/profile/serviceProfile';
import { ROOT } from '../../../engine/sourceLoader';

const ADD = { agent: 'agent_a1', phone: '+919812345678' };
const requestOf = (shown: object, values: ValuesOf<'dnd.add'> = ADD) =>
	new ServiceProfile({ 'dnd.add': shown }).request('dnd.add', values);

describe('a profile that was pasted', () => {
	const AGENTS = { list: 'data.agents', id: '{key}' };
	const pretty = JSON.stringify({ agents: AGENTS }, null, '\t');

	test.each([
		['as it is', pretty],
		['with non-breaking spaces', `\uFEFF${pretty.replaceAll('\t', '\u00A0\u00A0')}\u00A0\r\n`],
		['in a code fence', `\`\`\`json\n${pretty}\n\`\`\``],
		['with a greeting', `Here you are:\n\n${pretty}\n\nBest regards`],
		['with curly quotation marks', pretty.replace(/"([^"]*)"/g, '“$1”')],
		['with German ones', pretty.replace(/"([^"]*)"/g, '„$1“')],
		['with invisible characters', [...pretty].join('\u200B')],
	])('%s is the same', (_how, text) => {
		expect(readProfile(text)).toEqual({ agents: AGENTS });
	});

	test('keeps curly quotation marks in its texts', () => {
		const { agents } = readProfile('{ "agents": { "list": "data[“a”]" } }');
		expect(agents).toEqual({ list: 'data[“a”]' });
	});

	test.each(['', ' \n', undefined])('is empty: %j', (text) => {
		expect(new ServiceProfile(text).part('agents')).toBeUndefined();
	});

	test('may be an object, such as from an expression', () => {
		expect(new ServiceProfile({ agents: AGENTS }).part('agents')).toEqual(AGENTS);
	});

	test('is not used at all if a part is wrong', () => {
		const profile = new ServiceProfile({ agents: AGENTS, more: {} });
		for (let time = 1; time <= 2; time++) {
			expect(() => profile.part('agents')).toThrow("isn't complete and correct");
		}
	});
});

describe('a request', () => {
	test.each<[what: string, shown: object, sent: object, reason: string]>([
		[
			'values in the query and the body',
			{ query: { 'of.bot': '{agent}' }, body: { number: '{phone}' } },
			{ query: { 'of.bot': ADD.agent }, body: { number: ADD.phone } },
			'',
		],
		[
			'nested objects and lists, with what else they have',
			{ body: { of: [{ a: '{agent}' }, { p: ['{phone}', 7, null, true, [], {}] }], v: 2 } },
			{
				query: {},
				body: { of: [{ a: ADD.agent }, { p: [ADD.phone, 7, null, true, [], {}] }], v: 2 },
			},
			'',
		],
		[
			'text around a value, and a value twice',
			{ query: { a: ['{agent}', 'x', 1] }, body: { p: 'tel:{phone};{phone}' } },
			{ query: { a: [ADD.agent, 'x', 1] }, body: { p: `tel:${ADD.phone};${ADD.phone}` } },
			'',
		],
		[
			'nothing where the reason is left out',
			{
				query: { a: '{agent}', w: ['{reason?}'] },
				body: { p: '{phone}', of: { notes: [{ why: 'since {reason?}' }] } },
			},
			{ query: { a: ADD.agent }, body: { p: ADD.phone } },
			' ',
		],
		[
			'no body where none is shown',
			{ query: { a: '{agent}', p: '{phone}' } },
			{ query: { a: ADD.agent, p: ADD.phone } },
			'',
		],
		[
			'the reason',
			{ query: { a: '{agent}' }, body: { p: '{phone}', of: [{ why: '{reason?}' }] } },
			{ query: { a: ADD.agent }, body: { p: ADD.phone, of: [{ why: '$& {phone}' }] } },
			'$& {phone}',
		],
	])('has %s', (_what, shown, sent, reason) => {
		expect(requestOf(shown, { ...ADD, reason })).toEqual(sent);
	});

	test('keeps the type of a value that stands alone', () => {
		const profile = new ServiceProfile({
			calls: { query: { c: '{campaign?}', t: 'id-{campaign?}' } },
		});
		expect(profile.request('calls', { campaign: 42 })).toEqual({
			query: { c: 42, t: 'id-42' },
		});
	});

	test('has names that JavaScript reserves', () => {
		const profile = new ServiceProfile(
			'{ "dnd.add": { "body": { "__proto__": { "a": "{agent}" }, "constructor": "{phone}" } } }',
		);
		const sent = profile.request('dnd.add', ADD);
		expect(JSON.stringify(sent.body)).toBe(
			`{"__proto__":{"a":"${ADD.agent}"},"constructor":"${ADD.phone}"}`,
		);
	});
});

test('the examples of the docs are accepted, and that of the questionnaire has each part and placeholder', () => {
	const [ofCredential = '', questionnaire = ''] = ['credential', 'provider-questionnaire'].map(
		(name) => readFileSync(path.join(ROOT, 'docs', `${name}.md`), 'utf8'),
	);
	const exampleIn = (page: string) => readProfile(/```json\n(.*?)```/s.exec(page)?.[1] ?? '');
	expect(Object.keys(exampleIn(ofCredential))).toEqual(['dnd.add']);
	expect(Object.keys(exampleIn(questionnaire))).toEqual(Object.keys(profileSchema.shape));
	for (const [part, { must, may }] of Object.entries(PLACEHOLDERS)) {
		const [row = ''] = questionnaire.split('\n').filter((line) => line.startsWith(`| \`${part}\``));
		const named = [...row.matchAll(/`\{(\w+)\}`/g)].map(([, name]) => name);
		expect([part, named.sort()]).toEqual([part, [...must, ...may].sort()]);
	}
});
