import mapValues from 'lodash/mapValues';
import type { NodePropertyTypes } from 'n8n-workflow';
import { idempotencyKey } from '../../nodes/ChatSend/idempotency';
import { compactEntry, createdAtOf } from '../../nodes/CampaignCallsTrigger/listedCalls';
import { restoreState, storedState } from '../../nodes/CampaignCallsTrigger/pollState';
import {
	progressBetween,
	readingOf,
	storedReading,
} from '../../nodes/CampaignProgressTrigger/campaignProgress';
import { ListedNumbers } from '../../nodes/Dnd/list/listedNumbers';
import { parseDndPhone } from '../../nodes/Dnd/list/phoneMatch';
import { latestOfEachNumber } from '../../nodes/GetCall/latestCalls';
import { withAnswer } from '../../nodes/PlaceCall/ask/answer';
import { readQuestion } from '../../nodes/PlaceCall/ask/question';
import { CsvParser } from '../../nodes/PushCampaignContacts/file/csv';
import { FileRows } from '../../nodes/PushCampaignContacts/file/fileRows';
import { otherKindOf } from '../../nodes/PushCampaignContacts/file/otherKinds';
import { rejectionReason, rowsNamedIn } from '../../nodes/PushCampaignContacts/push/chunkSender';
import { resolveColumns } from '../../nodes/PushCampaignContacts/push/columns';
import { isNumbersRecord } from '../../nodes/PushCampaignContacts/push/numbersOfExecution';
import { prepareRows } from '../../nodes/PushCampaignContacts/push/prepareRows';
import { isPushRecord } from '../../nodes/PushCampaignContacts/push/pushRecord';
import {
	readAccepted,
	requireConsistentCounts,
} from '../../nodes/PushCampaignContacts/push/accepted';
import { ItemRows } from '../../nodes/PushCampaignContacts/push/rows';
import { mayNameRow } from '../../nodes/PushCampaignContacts/sameForAllRows';
import { findAgents } from '../../nodes/shared/agents';
import { urlOf } from '../../nodes/shared/api/access';
import { asSentence, ServiceRejection } from '../../nodes/shared/api/errors';
import { readPages, readWholeList, type PagedList } from '../../nodes/shared/api/paging';
import { forEveryone } from '../../nodes/shared/api/resolution';
import { withoutSecret } from '../../nodes/shared/api/secrets';
import { ApiMapping } from '../../nodes/shared/apiMapping';
import { placeValues } from '../../nodes/shared/apiMapping/placeValues';
import { PROVIDER_SETTINGS } from '../../nodes/shared/apiMapping/providerSettings';
import { hasEnded, isBehind, outcomeKey } from '../../nodes/shared/calls/callEnd';
import { callListQuery } from '../../nodes/shared/calls/callListQuery';
import { entriesOf, onlyListIn } from '../../nodes/shared/calls/callList';
import { flatCallRecord, simplifyCall, transcriptText } from '../../nodes/shared/calls/callRecord';
import { callIdKey, readReport, reportedField } from '../../nodes/shared/calls/completionWebhook';
import { simplifyCampaign, viewCampaign } from '../../nodes/shared/campaign';
import { outgoingFrame, UnconfirmedFrames } from '../../nodes/shared/chat/acks';
import { chatValues, createdSessionId } from '../../nodes/shared/chat/chatRequests';
import { EventDispatcher } from '../../nodes/shared/chat/eventDispatcher';
import { parseFrame } from '../../nodes/shared/chat/frames';
import { parseWatchSecret, splitSessionIds } from '../../nodes/shared/chat/parseChatFields';
import { describeEnding } from '../../nodes/shared/chat/reconnectPolicy';
import { socketUrl } from '../../nodes/shared/chat/token';
import { isJsonObject, type JsonObject, type JsonValue } from '../../nodes/shared/json';
import { Fields } from '../../nodes/shared/n8n/forms/fields';
import { sizedEach } from '../../nodes/shared/n8n/forms/outputFields';
import { rowReader } from '../../nodes/shared/n8n/forms/rowExpression';
import { unreadableIn } from '../../nodes/shared/n8n/forms/template';
import { authorize, readServiceAccess } from '../../nodes/shared/n8n/http/credential';
import { areRecords } from '../../nodes/shared/n8n/once/requestRecord';
import { toErrorItem } from '../../nodes/shared/n8n/run/nodeErrors';
import { failureForModel } from '../../nodes/shared/n8n/tools/toolResult';
import { checkSecret } from '../../nodes/shared/n8n/triggers/webhookSecret';
import { numberKey } from '../../nodes/shared/phone/phoneKey';
import { normalized } from '../../nodes/shared/text';
import { displayText, quoted } from '../../nodes/shared/values';
import { callWith, questionForm } from '../nodes/PlaceCall/callForm';
import { clientOf } from '../nodes/shared/api/clientOf';
import { ENDPOINTS } from '../nodes/shared/api/everyEndpoint';
import { excessOf, runToEnd } from './growth';
import {
	conversation,
	everyShape,
	largeInputs,
	oneEnding,
	tables,
	type Input,
	type Shape,
} from './shapes';
import { isWanted } from '../../nodes/shared/calls/completionFilters';

/** What the package does with text that comes in at a place. Each of these is run, whether the one before it failed or not. */
type Place = { shapes: Shape[]; reads: (input: Input) => Array<() => unknown> };

const TOKEN = '0123456789abcdef';
const ROWS = Array.from({ length: 10_000 }, (_, row) => row);
const ONE_PHONE = () => '6000000001';
const SUBJECT = { subject: 's', start: 'x' };

const objectOf = (json: JsonValue): JsonObject => (isJsonObject(json) ? json : { data: json });
const listOf = (json: JsonValue): JsonValue[] => (Array.isArray(json) ? json : [json]);
const recordsIn = (json: JsonValue): JsonObject[] => listOf(json).map(objectOf);
const plain = (json: JsonValue = ''): string =>
	typeof json === 'string' ? json : JSON.stringify(json);
const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '');

/** Fields that the code reads, each with this value. */
const fieldsWith = (json: JsonValue): JsonObject =>
	Object.fromEntries(
		[
			...['data', 'error', 'errors', 'details', 'message', 'meta', 'transcript', 'uploads'],
			...['phone', 'phone_number', 'person_name', 'status', 'created_at', 'call_picked_at'],
			...['token', 'recording_url', 'call_id', 'session_id', 'action', 'session_ids', 'summary'],
		].map((name) => [name, json]),
	);

/** Every setting of the credential with this value. */
const mappedBy = (text: string) =>
	new ApiMapping(new Proxy({}, { get: (_, name) => (name === PROVIDER_SETTINGS ? '' : text) }));

const rejectionOf = (texts: string[]) =>
	new ServiceRejection('', forEveryone(''), '', 400, { texts, body: { errors: texts } });

/** A list with pages of 100 entries and a total that changes, so that it's read the maximum number of times. */
const changingList = (json: JsonValue): PagedList<number> => {
	const entries = recordsIn(json);
	return {
		read: async (at = 0) => {
			const end = at + 100;
			return await Promise.resolve({
				entries: entries.slice(at, end),
				total: entries.length + ((at / 100) % 2),
				next: () => (end < entries.length ? [end] : []),
			});
		},
		keyOf: () => undefined,
		loopAdvice: '',
	};
};

async function readFile(text: string, pieceBytes: number): Promise<void> {
	const bytes = Buffer.from(text);
	const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, nth) =>
		bytes.subarray(nth * pieceBytes, (nth + 1) * pieceBytes),
	);
	const rows = await FileRows.open([{ name: 'contacts.csv', open: async () => pieces }]);
	await rows.columns();
	await rows.each(() => undefined);
	await rows.output(Array.from({ length: rows.count }, (_, row) => row));
}

function parseInPieces(text: string, size: number): void {
	const parser = new CsvParser(',');
	for (let from = 0; from < text.length; from += size) parser.write(text.slice(from, from + size));
	parser.end();
}

const columnsBy = (names: Iterable<string>, text: string, others: 'all' | string[]) =>
	resolveColumns(
		{ names: new Set(names) },
		{
			phone: text,
			personName: text,
			lastName: text,
			others,
			expressions: new Set(),
			isTool: false,
			from: 'items',
		},
	);

async function prepareItems(items: JsonObject[]): Promise<void> {
	const source = new ItemRows(items.map((json) => ({ json })));
	const { names } = await source.columns();
	const [phone = ''] = names;
	const prepared = await prepareRows(source, columnsBy(names, phone, 'all'), { isTool: false });
	await prepared.contactsOf([...prepared.rows]);
	[...prepared.notPushed].map(({ reason }) => reason);
}

/** A form whose fields have these types and values. */
function formOf(fields: { [name: string]: [type: NodePropertyTypes, value: JsonValue] }): Fields {
	const declared = Object.entries(fields).map(([name, [type]]) => ({
		displayName: name,
		name,
		type,
		default: '',
		options: [{ name: 'Derived', value: 'derived' }],
	}));
	const raw = (path: string) => fields[path]?.[1];
	return new Fields(declared, { raw, value: raw });
}

/** The response of one is secret, of one tells what took effect, and of one is compared with the request. Others are read alike. */
const OF_ENDPOINTS = new Set([
	'GET /v1/call/{id}/recording',
	'POST /v1/campaigns/{id}/contacts',
	'POST /v1/chat/session/{id}/inject_context',
]);

const responses = Object.fromEntries(
	ENDPOINTS.filter(({ name }) => OF_ENDPOINTS.has(name)).map(({ name, send }): [string, Place] => [
		`the response of ${name}`,
		{
			shapes: everyShape,
			reads: ({ text, json }) =>
				[
					...[200, 400, 429].map((status) => ({ status, text })),
					{ status: 200, text: JSON.stringify({ success: true, data: fieldsWith(json) }) },
					{ status: 400, text: JSON.stringify({ success: false, ...fieldsWith(json) }) },
				].map((response) => {
					const client = clientOf(
						async () => await Promise.resolve({ headers: { 'retry-after': text }, ...response }),
						TOKEN,
					);
					return async () => await send(client);
				}),
		},
	]),
);

const reads: Record<string, Place['reads']> = {
	'the call list': ({ text, json }) => {
		const records = recordsIn(json);
		return [
			() => entriesOf({ data: json }, new ApiMapping({ callListPath: 'data' })),
			() => onlyListIn(json, new ApiMapping({})),
			async () => await latestOfEachNumber(records),
			() => records.map((record) => compactEntry({ ...record, summary: text })),
			() => createdAtOf({ created_at: text }),
			() => isWanted({ status: json }, { status: ['a'], agent_uuid: ['a'], campaign_id: ['1'] }),
		];
	},
	'a list by pages that changes': ({ json }) => {
		const changed = { message: '', resolution: forEveryone('') };
		return [
			async () => await readWholeList(changingList(json), changed),
			async () => await readPages(changingList(json), Infinity),
		];
	},
	'a call record': ({ text, json }) => {
		const record = { ...fieldsWith(json), call_picked_at: text };
		return [
			() => flatCallRecord(record),
			() => simplifyCall(record),
			() => transcriptText(listOf(json)),
			() => outcomeKey(text, record),
			() => hasEnded(record, [text]),
			() => isBehind(record, { ...record, call_picked_at: `${text}Z` }),
			() =>
				withAnswer(
					{},
					{
						question: text,
						response_type: 'approval',
						yes: listOf(json).map(plain),
						no: [text],
						answer_field_in_record: 'data_captured.answer',
						not_reached: [text],
					},
					{ record: { status: text, data_captured: { answer: text } }, hasEnded: true },
				),
		];
	},
	'the list of agents': ({ json }) => {
		const mapping = { agentsPath: 'data', agentsIdPlace: 'field', agentsIdPath: 'agent_uuid' };
		return [
			() => findAgents(json, new ApiMapping({})),
			() => findAgents({ data: json }, new ApiMapping(mapping)),
		];
	},
	'a campaign': ({ json }) => [
		() => simplifyCampaign(viewCampaign(json)),
		() => {
			const view = viewCampaign(json);
			const before = readingOf('s', view);
			readingOf('s', view, before);
			progressBetween(before, before, view, ['queue_completed']);
		},
	],
	'the response of a push': ({ text, json }) => {
		const list = Array.isArray(json) ? json : [objectOf(json), text];
		const skipped = { dnd_skipped: list, engine_skipped_duplicates: list };
		return [
			() => JSON.stringify(readAccepted(ROWS.slice(0, list.length), skipped, ONE_PHONE).skipped),
			() =>
				requireConsistentCounts(
					readAccepted(ROWS, { contacts_accepted: text, dnd_skipped: json }, ONE_PHONE),
					ROWS.length,
				),
			() => rowsNamedIn(rejectionOf([text, ...listOf(json).map(plain)]), ROWS),
			() => rejectionReason(rejectionOf([text])),
		];
	},
	'a rejection': ({ text, json }) => [
		() => JSON.stringify(toErrorItem(rejectionOf([text]), { itemIndex: 0, of: 2 }).json),
		() => failureForModel(rejectionOf([text, ...listOf(json).map(plain)])),
	],
	'a text that is shown': ({ text }) => [
		() => displayText(text),
		() => quoted(text),
		() => normalized(text, 'NFD'),
		() => normalized(text, 'NFKC'),
		() => asSentence(text),
	],
	'a text with the token': ({ text }) => [
		() => withoutSecret(text, TOKEN),
		() => withoutSecret(`${text}!`, text),
		() => withoutSecret(text, text.slice(text.length / 2)),
		...['tokentok00000000', '%%%%%25252525252', '&amp;&amp;&amp;&'].map(
			(token) => () => withoutSecret(text, token),
		),
	],
	'a webhook request': ({ text, json }) => [
		() => {
			const calls = readReport([{ call_id: text, status: text, data: json }, json]);
			if (Array.isArray(calls)) for (const call of calls) reportedField(call, 'status');
		},
		() => callIdKey(text),
		() => checkSecret(text, () => `${text}!`),
		() => splitSessionIds(json),
		() => splitSessionIds(text),
		() => parseWatchSecret(text, 'Secret'),
	],
	'a frame of a chat': ({ text, json }) => [
		() => parseFrame(text),
		() => parseFrame(JSON.stringify({ type: 'message_received', payload: fieldsWith(json) })),
		() => createdSessionId(mappedBy(text), { status: 200, body: json }),
		() => createdSessionId(new ApiMapping({}), { status: 200, body: json }),
		() => describeEnding('mint_rejected', { kind: 'token', error: new Error(text) }),
		...[text, `wss://${text}`, `wss://h.example/${text}`].map(
			(wsUrl) => () =>
				socketUrl({
					token: { token: wellFormed(text), ws_url: wsUrl, expires_at: 0 },
					baseUrl: 'https://h.example',
					clientId: 'client',
					claim: true,
				}),
		),
	],
	'a cell with a phone number': ({ text }) => [
		() => parseDndPhone(text),
		() => numberKey(text, undefined),
		() => numberKey(text, 'IN'),
		() => numberKey(text, 'IT'),
		() => new ListedNumbers([{ phone: text }, { phone: '9876543210' }]).entryOf(text),
	],
	'rows of items': ({ text, json }) => [
		async () => await prepareItems(recordsIn(json)),
		async () => await prepareItems([fieldsWith(text), fieldsWith(json)]),
		() => columnsBy(listOf(json).map(plain), text, [text]),
	],
	'a file': ({ text }) => [
		async () => await readFile(text, 65_536),
		() => parseInPieces(text, 65_536),
		() => parseInPieces(text, 64),
		() => otherKindOf(Buffer.from(text), text),
	],
	'the fields of a call': ({ text, json }) => [
		() =>
			callWith({
				agentUuid: text,
				countryCode: text,
				phoneNumber: text,
				personName: text,
				when: 'timeOfDay',
				scheduledTime: text,
				initialGreeting: text,
				dataExtraction: { points: [{ key: text, description: text, outputFormat: text }] },
				additionalDataFields: {
					fields: listOf(json).map((value) => ({ name: text.slice(0, 9), value: plain(value) })),
				},
				callConfigOverrides: { maxCallDurationSeconds: text },
				options: {
					callingHours: {
						hours: { days: `Mon${text}`, from: text, to: text, timeZone: text },
					},
					callingHoursExceptOn: text,
					systemPrompt: text,
					webhookUrl: text,
				},
				developerSettings: { additionalDataJson: json },
			}),
		() =>
			readQuestion(
				questionForm({
					message: text,
					responseType: 'approval',
					yesValues: json,
					noValues: Array.isArray(json) ? json.map((value) => `not ${plain(value)}`) : text,
					dataExtraction: { points: [{ key: text }] },
					options: { answerField: text, answerFormat: text, notReachedStatuses: text },
				}),
			),
	],
	'any field': ({ text, json }) => [
		() => formOf({ x: ['string', text] }).expression('x'),
		() => formOf({ x: ['string', text] }).textOrList('x'),
		() => formOf({ x: ['string', json] }).text('x'),
		() => formOf({ x: ['string', json] }).scalars('x'),
		() => formOf({ x: ['string', text] }).secret('x'),
		() => formOf({ x: ['boolean', text] }).switch('x', false),
		() => formOf({ x: ['number', text] }).number('x', 1),
		() => formOf({ x: ['options', text] }).choice('x', ''),
		() => formOf({ x: ['multiOptions', text] }).choices('x'),
		() => formOf({ x: ['json', text] }).jsonObject('x'),
		() => formOf({ x: ['json', json] }).json('x'),
		() => formOf({ x: ['dateTime', text] }).time('x'),
		() => {
			const form = formOf({ idempotency: ['options', 'derived'], uniqueBy: ['string', text] });
			return idempotencyKey(form, { sessionId: text }, [text, text]);
		},
		() => sizedEach({ fields: [text] }, recordsIn(json).slice(0, 2), (raw) => raw),
	],
	'an expression': ({ text }) => [
		() => rowReader(`={{ $json.a${text} }}`)?.({ a: text }),
		() => rowReader(`={{ $json["${text}"] }} ${text}`)?.({ a: text }),
		() => unreadableIn(`[object Object]${text}`, `=${text}`, (code) => code),
		() => mayNameRow(text),
	],
	'the filters of the call list': ({ text }) => [
		() =>
			callListQuery(
				{ status: text, phone: text, from: text, to: text, campaignId: text },
				mappedBy('{from} to {to}'),
				'UTC',
			),
	],
	'the credential': ({ text, json }) => [
		() => readServiceAccess({ baseUrl: `https://h.example/${text}`, apiToken: text }),
		() => urlOf(`https://h.example/${text}`, { path: '/a', link: `https://h.example/${text}` }),
		...[`https://h.example/${text}`, text].map(
			(url) => () => authorize({ baseUrl: `https://h.example/${text}`, apiToken: TOKEN }, { url }),
		),
		() => mappedBy(text).require(['callListPath', 'agentsPath', 'dndAddPhoneName']),
		() => new ApiMapping({ [PROVIDER_SETTINGS]: json }).require(['callListPath', 'agentsPath']),
		() =>
			placeValues([
				{ placement: 'body', name: text, value: text },
				{ placement: 'body', name: `a.${text}`, value: 1 },
				{ placement: 'query', name: text, value: text },
			]),
		() =>
			chatValues(mappedBy(text), [
				['chatAsyncSession', text],
				['chatAsyncMessage', text],
			]),
	],
	'what n8n stored': ({ text, json }) => [
		() => storedState(restoreState({ subject: 's', seen: text }, SUBJECT), SUBJECT),
		() => storedReading({ subject: 's', byStatus: json, completed: json }, 's'),
		() => isPushRecord({ a: json }),
		() => isNumbersRecord({ count: 1, lists: json }),
		() => areRecords({ a: json }),
	],
};

const places: Record<string, Place> = {
	...responses,
	...mapValues(reads, (read) => ({ shapes: everyShape, reads: read })),
	'a file with an unusual table': {
		shapes: tables,
		reads: ({ text }) => [
			() => parseInPieces(text, 64),
			async () => await readFile(text, 65_536),
			async () => await readFile(text, 64),
		],
	},
	'a list of numbers with one ending': {
		shapes: [oneEnding],
		reads: ({ json }) => [
			() => {
				const entries = recordsIn(json);
				const list = new ListedNumbers(entries);
				for (const { phone } of entries) list.entryOf(plain(phone).replace('+4412', '+4413'));
			},
		],
	},
	'the events of a chat': {
		shapes: [conversation],
		reads: ({ text, json }) => {
			const payloads = recordsIn(json);
			const dispatcher = new EventDispatcher('session', { debug() {}, info() {}, warn() {} });
			dispatcher.subscribe(() => {});
			const unconfirmed = new UnconfirmedFrames();
			const frame = outgoingFrame({ type: 'message', content: text });
			return [
				() => {
					for (const payload of payloads) {
						const type = 'message_received';
						const envelope = { type, ts: 1, payload };
						const eventId = plain(payload.id);
						dispatcher.deliver({ type, eventId, payload, envelope }, false);
					}
				},
				() => {
					for (const payload of payloads) {
						unconfirmed.add(outgoingFrame({ type: 'message', content: `${text} again` }), 0);
						unconfirmed.match({ state: 'default', payload }, frame, 0);
					}
				},
			];
		},
	},
};

/** Enough to detect quadratic growth. Use GROWTH_CHARACTERS=1000000 for the size of a file. */
const { GROWTH_CHARACTERS } = process.env;
const MAX_CHARACTERS = Number(GROWTH_CHARACTERS ?? 32_000);
/** Long enough for GROWTH_CHARACTERS=1000000. */
const TIME_LIMIT_MS = 3_600_000;

test.each(Object.entries(places))(
	'four times the text takes about four times the CPU time: %s',
	async (_place, { shapes, reads }) => {
		for (const { name, make } of shapes) {
			const job = (characters: number) => {
				const all = reads(make(characters));
				return async () => {
					for (const read of all) await runToEnd(read);
				};
			};
			const excess = await excessOf(job, MAX_CHARACTERS);
			expect(excess && { shape: name, ...excess }).toBeUndefined();
		}
	},
	TIME_LIMIT_MS,
);

// Takes minutes.
if (GROWTH_CHARACTERS !== undefined) {
	test.each(Object.entries(places))(
		'does not overflow the stack with many entries: %s',
		async (_place, { reads }) => {
			for (const read of largeInputs.flatMap(reads)) {
				await expect(runToEnd(read)).resolves.toBeUndefined();
			}
		},
	);
}
