import { readFileSync } from 'node:fs';
import path from 'node:path';
import mapKeys from 'lodash/mapKeys';
import range from 'lodash/range';
import set from 'lodash/set';
import { PLACEHOLDERS, profileSchema, readProfile } from '../../../../nodes/core/profile/schema';
import { ServiceProfile, type ValuesOf } from '../../../../nodes/core/profile/serviceProfile';
import { ROOT } from '../../../engine/sourceLoader';
import { dialects, randomDialect } from '../../../simulator';
import type { Field } from '../../../simulator/dialects/forms';
import { profileOf } from '../../../simulator/dialects/profile';

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

test('100 random services can be shown, and each value is where the service expects it', () => {
	const services = [...Object.values(dialects), ...range(100).map(randomDialect)];
	for (const dialect of services) {
		const { dnd, chat, calls } = dialect;
		const profile = new ServiceProfile(JSON.stringify(profileOf(dialect)));
		const { agent, phone, reason } = dnd.add;
		const add = profile.request('dnd.add', { agent: 'a', phone: 'p', reason: 'r' });
		expect({ body: {}, ...add }).toEqual(sentTo([agent, 'a'], [phone, 'p'], [reason, 'r']));
		const remove = profile.request('dnd.remove', { agent: 'a', phone: 'p' });
		expect({ body: {}, ...remove }).toEqual(
			sentTo([dnd.remove.agent, 'a'], [dnd.remove.phone, 'p']),
		);
		const session = profile.request('chat.session', { agent: 'a', person: 'p' });
		expect({ body: {}, ...session }).toEqual(
			sentTo([chat.create.agent, 'a'], [chat.create.person, 'p']),
		);
		for (const [name, fields] of [
			['chat.inbound', chat.inbound],
			['chat.async', chat.async],
		] as const) {
			const message = profile.request(name, { session: 's', message: 'm' });
			expect({ body: {}, ...message }).toEqual(
				sentTo([fields.session, 's'], [fields.message, 'm']),
			);
		}
		const list = profile.request('dnd.list', { agent: 'a', phone: 'p', page: 2, pageSize: 9 });
		expect(list.query).toEqual({
			...{ [dnd.list.agent]: 'a', [dnd.list.phone]: 'p' },
			...{ [dnd.list.page]: 2, [dnd.list.perPage]: 9 },
		});
		const filters = { status: 's', agent: 'a', campaign: 7, from: 'f', to: 't', phone: 'p' };
		const found = profile.request('calls', { ...filters, pageSize: 9 });
		expect(found.query).toEqual({
			...mapKeys(filters, (_value, filter) => new Map(Object.entries(calls.filters)).get(filter)),
			[calls.paging.size]: 9,
		});
	}
});

/** A request with these values. Dots nest in a body. */
function sentTo(...values: Array<[Field, string]>) {
	const sent = { query: {}, body: {} };
	for (const [{ in: place, name }, value] of values) {
		set(sent[place], place === 'query' ? [name] : name, value);
	}
	return sent;
}

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
