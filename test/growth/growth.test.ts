/** Texts and lists from outside take time in proportion to their length. Lint checks regular expressions for this, so here are the places that do more than match. */
import attempt from 'lodash/attempt';
import { rowsOfFiles } from '../../nodes/PushCampaignContacts/push/csv';
import { resolveColumns } from '../../nodes/PushCampaignContacts/push/columns';
import { prepareRows } from '../../nodes/PushCampaignContacts/push/prepareRows';
import { isAboutRows, rejectionReason } from '../../nodes/PushCampaignContacts/push/sendRows';
import { rowsOfItems } from '../../nodes/PushCampaignContacts/push/rows';
import { Claims, ClaimState, type TextList } from '../../nodes/core/claims/claims';
import { Deliveries } from '../../nodes/core/claims/deliveries';
import { ListedNumbers } from '../../nodes/core/dnd/listedNumbers';
import { callsByPerson } from '../../nodes/GetCall/operations/getUnreached.operation';
import { asSentence, ServiceRejection } from '../../nodes/core/service/errors';
import { readPages } from '../../nodes/core/service/paging';
import { withoutSecret } from '../../nodes/core/service/secrets';
import { readProfile } from '../../nodes/core/profile/schema';
import { ServiceProfile } from '../../nodes/core/profile/serviceProfile';
import { entriesOf, onlyListIn } from '../../nodes/core/calls/callList';
import { callColumns } from '../../nodes/core/calls/callRecord';
import { splitSessionIds } from '../../nodes/core/chat/parseChatFields';
import { type JsonObject, parseJson } from '../../nodes/core/values/json';
import { mayNameRow, whyUnread } from '../../nodes/host/caller/rows';
import { loosePhoneKey } from '../../nodes/core/phone/callPhone';
import { headingKey } from '../../nodes/core/values/sheetCells';
import { normalized } from '../../nodes/core/values/text';
import { noLimit } from '../../nodes/core/values/keyedMutex';
import { displayText } from '../../nodes/core/values/values';
import { profileFrom } from '../../scripts/profilePage/fromExamples';
import { defaultChoice } from '../nodes/PushCampaignContacts/push/scripted';
import { executeContext, makeNode } from '../engine';
import { isLinear } from './linear';

/** Texts to repeat, each of which can make a careless reader start, continue, or go back too often. */
const UNITS = [
	...[' ', '\r\n', ',', '.,', "'", '"', '"\\', '""', '[', '{{', '{{ $json.a }}', 'a=', '0', '+9'],
	...['a,', '1\n', '"1",', '\ud800', '\u0301\u0323', '&amp;', '%25%2', 'contacts[1] ', 'tokentok'],
	...['9876543210 ', '९', 'https://', 'ab, ', 'turn on', '\\\\x'],
	...['7', '1876543210987654321,', '"\\\\\\"",'],
];
/** Those of commands. */
const CURL_UNITS = [
	...["'", '"', "$'x' ", '\\', '\\ ', '\\\n', '\n', ' ', '$', 'x&', 'curl ', '\ncurl x/y'],
	'-d a=b ',
];
const TOKEN = 'tokentok00000000';
const TOOL = executeContext(makeNode({ type: 'test.sink' }), [{ json: {} }]);

/** Those that mean something in a file, which takes longest to read. */
const UNITS_OF_FILES = [' ', '\r\n', ',', '"', '""', '1\n', '"1",', '\ud800'];

const columnsIn = (names: string[]) =>
	resolveColumns([{ names: new Set(names), repeated: new Set(), sample: [], rowOf: () => ({}) }], {
		...defaultChoice,
		phone: names[0] ?? '',
		personName: '',
	});

async function readFile(text: string): Promise<void> {
	await rowsOfFiles([{ label: 'a file', item: 0, open: () => Buffer.from(text) }]);
}

const rejection = (text: string) =>
	new ServiceRejection({ message: '', resolution: '' }, '', 400, {
		texts: [text],
	});

const ofText: Record<string, (text: string) => unknown> = {
	'a cell of a file': async (text) => await readFile(`a,b\n"${text}"\n`),
	'a file': readFile,
	'a phone number': (text) => attempt(() => loosePhoneKey(text, 'IN')),
	'a number on the list': (text) => new ListedNumbers([{ phone: text }]).entryOf(text),
	'a text with the token': (text) => withoutSecret(text, TOKEN),
	'a token in a text': (text) => withoutSecret(`${text}!`, text),
	'a pasted profile': (text) => [
		attempt(() => readProfile(`{${text}}`)),
		attempt(() => readProfile(JSON.stringify({ calls: { query: { a: text } } }))),
	],
	'a text that is shown': (text) => [displayText(text), asSentence(text), normalized(text)],
	'JSON with a long integer': (text) => parseJson(`[${text.slice(0, -2)}1876543210987654321]`),
	'a heading': (text) => headingKey(text),
	'a rejection of rows': (text) => [
		isAboutRows(rejection(text), false),
		rejectionReason(rejection(text)),
	],
	'session IDs': (text) => splitSessionIds(text),
	'an expression of all rows': (text) => mayNameRow(text),
	'an expression of a tool': (text) => [
		whyUnread(TOOL, `=${text}`),
		whyUnread(TOOL, `={{ ${text}`),
	],
};

const many = <T>(characters: number, each: number, one: (index: number) => T): T[] =>
	Array.from({ length: Math.floor(characters / each) }, (_, index) => one(index));
const call = (index: number): JsonObject => ({
	call_id: `c${index}`,
	phone: 6_000_000_000 + index,
});

const ofLists: Record<string, (characters: number) => unknown> = {
	'calls by their number': async (size) =>
		await callsByPerson(
			many(size, 40, (index) => ({
				phone_number: `+91${6_000_000_000 + Math.floor(index / 3)}`,
				created_at: '2026-01-01T00:00:00Z',
			})),
			0,
		),
	'calls in a response': (size) => {
		const data = many(size, 40, call);
		return [
			entriesOf({ data }, { list: 'data', next: 'none' }, new ServiceProfile()),
			onlyListIn({ data }, new ServiceProfile()),
		];
	},
	'a record of many fields': (size) =>
		callColumns(
			{ data_captured: Object.fromEntries(many(size, 12, (index) => [`name${index}`, index])) },
			'opt_out',
		),
	'a profile that repeats its names': (size) => {
		const names = many(size, 8, (index) => `"a${Math.floor(index / 2)}":1`);
		return attempt(() => readProfile(`{"calls":{"query":{${names.join()}}}}`));
	},
	'a list that changes while it is read': async (size) => {
		const calls = many(size, 40, call);
		let total = 0;
		const list = {
			read: async (at = 0) =>
				await Promise.resolve({
					entries: calls.slice(at, at + 100),
					total: calls.length + (total++ % 2),
					next: () => (at + 100 < calls.length ? [at + 100] : []),
				}),
			keyOf: () => undefined,
			loopAdvice: '',
			keepsChanging: { message: '', resolution: '' },
		};
		await readPages(list, Infinity).catch(() => undefined);
	},
	'listed numbers': (size) => {
		const phones = many(size, 20, (index) => `+44120000${100_000 + index}`);
		const list = new ListedNumbers(phones.map((phone) => ({ phone })));
		for (const phone of phones) list.entryOf(phone.replace('+4412', '+4413'));
	},
	'listed numbers that end alike': (size) => {
		const digits = many(size, 40, (index) => `${100_000 + index}1234`);
		const phones = digits.flatMap((one) => [`+44${one}`, `46${one}`]);
		const list = new ListedNumbers(phones.map((phone) => ({ phone })));
		for (const one of digits) for (const code of ['+47', '48']) list.entryOf(code + one);
	},
	'rows of items': async (size) => {
		const items = many(size, 40, (index) => ({ json: call(index) }));
		await prepareRows(await rowsOfItems(items), columnsIn(['phone']));
	},
	'a loop that calls one person in each iteration': async (size) => {
		const [texts, state, record] = [new Set<string>(), new ClaimState(), {}];
		const list: TextList = {
			add: async (all) => {
				const added = await Promise.resolve(all.filter((text) => !texts.has(text)));
				for (const text of added) texts.add(text);
				return added;
			},
			remove: async (all) => {
				for (const text of all) texts.delete(text);
			},
			clear: async () => {
				texts.clear();
			},
			count: async () => await Promise.resolve(texts.size),
		};
		const occasion = { name: 'start', isFirst: true };
		const claims = new Claims(list, occasion, state, () => state.count, { now: () => 0 }, noLimit);
		for (const who of many(size, 10, String)) {
			const deliveries = new Deliveries(record, async () => await Promise.resolve(claims));
			const job = { who, id: `${who}#0`, isClaimed: true };
			await deliveries.claim([job]);
			await deliveries.deliver(
				job,
				async () => await Promise.resolve({ kind: 'done', result: [] }),
			);
			await deliveries.free([job]);
		}
	},
	columns: (size) => columnsIn(many(size, 8, (index) => `c${index}`)),
	'headings that are equal to generated ones': async (size) =>
		await readFile(`a,${many(size, 8, (index) => `a,a_${index}`).join()}\n1`),
	'rows that end early': async (size) => await readFile(`a,b,c,d,e\n${'1\n'.repeat(size / 2)}`),
};

/** The units of which a long text takes too long. */
async function slowUnits(
	units: string[],
	read: (text: string) => unknown,
	characters = 32_000,
): Promise<string[]> {
	const slow: string[] = [];
	for (const unit of units) {
		const linear = await isLinear((size) => {
			const text = `${unit.repeat(size / unit.length)}\n!`;
			return () => read(text);
		}, characters);
		if (!linear) slow.push(unit);
	}
	return slow;
}

test.each(Object.entries(ofText))('a long text takes linear time: %s', async (_place, read) => {
	expect(await slowUnits(read === readFile ? UNITS_OF_FILES : UNITS, read)).toEqual([]);
});

test('a long command takes linear time', async () => {
	const read = (text: string) => {
		const curls = `curl -G https://x.example/v1/calls?${text}`;
		profileFrom({ curls, responses: {}, answers: {} });
	};
	// Each character takes longer than one of another text.
	expect(await slowUnits(CURL_UNITS, read, 8_000)).toEqual([]);
});

test.each(Object.entries(ofLists))('a long list takes linear time: %s', async (_place, read) => {
	expect(await isLinear((size) => () => read(size), 50_000)).toBe(true);
});
