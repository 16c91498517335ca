import type { NodePropertyTypes } from 'n8n-workflow';
import { idempotencyKey } from '../../nodes/ChatSend/idempotency';
import { compactEntry, createdAtOf } from '../../nodes/CampaignCallsTrigger/listedCalls';
import { restoreState, storedState } from '../../nodes/CampaignCallsTrigger/pollState';
import { progressBetween, readingOf } from '../../nodes/CampaignProgressTrigger/campaignProgress';
import { ListedNumbers } from '../../nodes/Dnd/list/listedNumbers';
import { withAnswer } from '../../nodes/PlaceCall/ask/answer';
import { readQuestion } from '../../nodes/PlaceCall/ask/question';
import { timeZone } from '../../nodes/PlaceCall/fields/timeZone';
import { PhonesByRow, RowsByPhone } from '../../nodes/PushCampaignContacts/push/phones';
import { cellOf, columnOf, hasCell } from '../../nodes/PushCampaignContacts/push/cells';
import { resolveColumns } from '../../nodes/PushCampaignContacts/push/columns';
import { rejectionReason, rowsNamedIn } from '../../nodes/PushCampaignContacts/push/chunkSender';
import { isPushRecord } from '../../nodes/PushCampaignContacts/push/pushRecord';
import { toContact } from '../../nodes/PushCampaignContacts/push/prepareRows';
import {
	readAccepted,
	requireConsistentCounts,
} from '../../nodes/PushCampaignContacts/push/response';
import { CsvParser } from '../../nodes/PushCampaignContacts/file/csv';
import { FileRows } from '../../nodes/PushCampaignContacts/file/fileRows';
import { findAgents } from '../../nodes/shared/agents';
import { isBelow, urlOf } from '../../nodes/shared/api/access';
import { ApiClient } from '../../nodes/shared/api/client';
import { injectContext, withAdditions } from '../../nodes/shared/api/endpoints';
import { findEffect, parseResponse } from '../../nodes/shared/api/response';
import { ServiceRejection } from '../../nodes/shared/api/errors';
import { forEveryone } from '../../nodes/shared/api/resolution';
import { hasAnyField, hasAnyFieldWithin, hasAnyValue } from '../../nodes/shared/api/envelope';
import { bytesOf, type ServiceRequest } from '../../nodes/shared/api/http';
import { parseWholeNumber, parseCount } from '../../nodes/shared/api/parseIds';
import { whyNotRead } from '../../nodes/shared/notRead';
import { explainNotProcessed } from '../../nodes/shared/api/errorTable';
import { readPages, readWholeList, type PagedList } from '../../nodes/shared/api/paging';
import { retryAfterMs } from '../../nodes/shared/api/retry';
import { withoutSecret } from '../../nodes/shared/api/secrets';
import { ApiMapping } from '../../nodes/shared/apiMapping';
import { placeValues, queryOf } from '../../nodes/shared/apiMapping/placeValues';
import { PROVIDER_SETTINGS } from '../../nodes/shared/apiMapping/providerSettings';
import { callListQuery } from '../../nodes/shared/calls/callFilters';
import { entriesOf, onlyListIn } from '../../nodes/shared/calls/callList';
import { isWanted, isBehind, outcomeKey, parseList } from '../../nodes/shared/calls/callEnd';
import { readReport, reportedField } from '../../nodes/shared/calls/completionWebhook';
import { simplifyCampaign, viewCampaign } from '../../nodes/shared/campaign';
import { socketUrl } from '../../nodes/shared/chat/token';
import { chatValues, createdSessionId } from '../../nodes/shared/chat/chatRequests';
import { describeEnding } from '../../nodes/shared/chat/reconnectPolicy';
import type { ChatEvent } from '../../nodes/shared/chat/frames';
import { EventDispatcher } from '../../nodes/shared/chat/eventDispatcher';
import { outgoingFrame, UnconfirmedFrames } from '../../nodes/shared/chat/acks';
import { isJsonObject, type JsonObject, type JsonValue } from '../../nodes/shared/json';
import { isRepeatable } from '../../nodes/shared/n8n/once/requestRecord';
import { authorize, readServiceAccess } from '../../nodes/shared/n8n/http/credential';
import { toErrorItem } from '../../nodes/shared/n8n/run/nodeErrors';
import { sizedEach } from '../../nodes/shared/n8n/forms/outputFields';
import { Fields } from '../../nodes/shared/n8n/forms/fields';
import { rowReader } from '../../nodes/shared/n8n/forms/rowExpression';
import { unreadableIn } from '../../nodes/shared/n8n/forms/template';
import { checkSecret } from '../../nodes/shared/n8n/triggers/webhookSecret';
import { normalized, withoutEnd } from '../../nodes/shared/text';
import { named } from '../../nodes/shared/values';
import type { Input, Shape } from './shapes';
import { callWith, questionForm } from '../nodes/PlaceCall/callForm';

/** How to call a reader if its parameter types aren't enough, with the usual inputs or with these shapes. */
export type Reader =
	| ((input: Input) => unknown)
	| { shapes: Shape[]; read: (input: Input) => unknown };

const REQUEST: ServiceRequest = { method: 'POST', path: '/v1/campaigns/1/contacts' };
const TOKEN = '0123456789abcdef';
const ROWS = Array.from({ length: 10_000 }, (_, row) => row);
const ONE_PHONE = () => '6000000001';

/** A list with pages of 100 entries and a total that changes, so that it's read the maximum number of times. */
const changingList = (json: JsonValue): PagedList<number> => {
	const entries = listOf(json).map(objectOf);
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

const objectOf = (json: JsonValue): JsonObject => (isJsonObject(json) ? json : { data: json });
const listOf = (json: JsonValue): JsonValue[] => (Array.isArray(json) ? json : [json]);
const plain = (json: JsonValue = ''): string =>
	typeof json === 'string' ? json : JSON.stringify(json);
const responseOf = (text: string) => ({ status: 200, headers: { 'retry-after': text }, text });
const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '');
const parsedResponse = (body: JsonValue) => ({ status: 200, body });
const rejectionOf = (texts: string[]) =>
	new ServiceRejection('', forEveryone(''), '', 400, { texts, body: { errors: texts } });

/** Every setting of the credential with this value. */
const mappedBy = (text: string) =>
	new ApiMapping(new Proxy({}, { get: (_, name) => (name === PROVIDER_SETTINGS ? '' : text) }));

async function readFile(text: string, pieceBytes = 65_536): Promise<void> {
	const bytes = Buffer.from(text);
	const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, nth) =>
		bytes.subarray(nth * pieceBytes, (nth + 1) * pieceBytes),
	);
	const source = { name: 'contacts.csv', open: async () => pieces };
	const rows = await FileRows.open([source]);
	await rows.columns();
	await rows.each(() => undefined);
	await rows.output(Array.from({ length: rows.count }, (_, row) => row));
}

function parseInPieces(text: string, size: number): void {
	const parser = new CsvParser(',');
	for (let from = 0; from < text.length; from += size) parser.write(text.slice(from, from + size));
	parser.end();
}

/** A form whose fields have these types and values. */
function formatOf(fields: { [name: string]: [type: NodePropertyTypes, value: JsonValue] }): Fields {
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

const event = (type: string, payload: JsonObject): ChatEvent => ({
	type,
	eventId: null,
	payload,
	envelope: { type, ts: 1, payload },
});

const many = (
	name: string,
	each: number,
	text: (count: number) => string = () => '',
	json: (index: number) => JsonValue = () => null,
): Shape => ({
	name,
	make: (characters) => {
		const count = Math.max(1, Math.floor(characters / each));
		return { text: text(count), json: Array.from({ length: count }, (_, index) => json(index)) };
	},
});

const numbered = (count: number, one: (index: number) => string, between = ',') =>
	Array.from({ length: count }, (_, index) => one(index)).join(between);

/** Tables for which a careless reader takes quadratic time. */
const tables: Shape[] = [
	many('equal headings', 2, (count) => `${'a,'.repeat(count)}a\n1\n`),
	many(
		'headings that are equal to generated ones',
		8,
		(count) => `a,${numbered(count, (i) => `a,a_${i}`)}\n1`,
	),
	many('a wide header', 8, (count) => `${numbered(count, (i) => `c${i}`)}\n1\n`),
	many('rows that end early', 2, (count) => `a,b,c,d,e,f,g,h,i,j\n${'1\n'.repeat(count)}`),
	many('a row of many cells', 2, (count) => `a,b\n${'1,'.repeat(count)}\n`),
	many('a row in quotes', 1, (count) => `a,b\n"${'1'.repeat(count)}",2\n`),
	many('a row of doubled quotes', 2, (count) => `a,b\n"${'""'.repeat(count)}",2\n`),
	many('rows with a quote each', 7, (count) => `a,b\n${'"1","2"\n'.repeat(count)}`),
	many('a heading of many marks', 2, (count) => `a${'\u0301\u0323'.repeat(count)},b\n1,2\n`),
];

/** A conversation with many turns that are merged into each other, and messages in between. */
const conversation = many('a conversation', 100, undefined, (index) => ({
	turn_id: `t${index}`,
	merged_into: `t${index + 1}`,
	id: `m${index}`,
	message_id: `m${index}`,
	content: 'x',
}));

const toOneEnding = many('numbers with one ending', 20, undefined, (index) => ({
	phone: `+4412${100_000 + index}0000`,
}));

export const readers: Record<string, Reader | Reader[]> = {
	'CampaignCallsTrigger/listedCalls.ts › compactEntry': ({ json, text }) =>
		compactEntry({ ...objectOf(json), summary: text }),
	'CampaignCallsTrigger/listedCalls.ts › createdAtOf': ({ text }) =>
		createdAtOf({ created_at: text }),
	'CampaignCallsTrigger/pollState.ts › storedState': ({ text }) =>
		storedState(restoreState({ subject: 's', seen: text }, 's'), 's'),
	'CampaignProgressTrigger/campaignProgress.ts › readingOf': ({ json }) => {
		const view = viewCampaign(json);
		return readingOf('s', view, readingOf('s', view));
	},
	'CampaignProgressTrigger/campaignProgress.ts › progressBetween': ({ json }) => {
		const view = viewCampaign(json);
		const before = readingOf('s', view);
		return progressBetween(before, before, view, ['queue_completed']);
	},
	'Dnd/list/listedNumbers.ts › ListedNumbers': [
		({ text }) => new ListedNumbers([{ phone: text }, { phone: '9876543210' }]).entryOf(text),
		{
			shapes: [toOneEnding],
			read: ({ json }) => {
				const entries = listOf(json).map(objectOf);
				const list = new ListedNumbers(entries);
				for (const { phone } of entries) list.entryOf(plain(phone).replace('+4412', '+4413'));
			},
		},
	],
	'PlaceCall/ask/answer.ts › withAnswer': ({ text, json }) =>
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
	'PlaceCall/ask/question.ts › readQuestion': ({ text, json }) =>
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
	'PlaceCall/fields/readCallForm.ts › readCallForm': ({ text, json }) =>
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
	'PlaceCall/fields/timeZone.ts › timeZone': ({ text }) => timeZone(text),
	'PushCampaignContacts/push/phones.ts › RowsByPhone': ({ json }) => {
		const phones = new PhonesByRow();
		const rows = new RowsByPhone(phones);
		for (const row of listOf(json).keys()) {
			const key = String(6_000_000_000 + row);
			phones.set(row, { phone: key, key });
			rows.add(row);
		}
	},
	'PushCampaignContacts/push/cells.ts › cellOf': ({ text, json }) => {
		const column = columnOf(text);
		for (const row of listOf(json).slice(0, 2)) cellOf(objectOf(row), column);
	},
	'PushCampaignContacts/push/cells.ts › hasCell': ({ text, json }) =>
		hasCell(objectOf(json), columnOf(text)),
	'PushCampaignContacts/push/columns.ts › resolveColumns': ({ text, json }) =>
		resolveColumns(
			{ names: new Set(listOf(json).map(plain)) },
			{
				phone: text,
				personName: text,
				lastName: text,
				others: [text],
				expressions: new Set(),
				isTool: false,
				from: 'items',
			},
		),
	'PushCampaignContacts/push/response.ts › requireConsistentCounts': ({ text, json }) =>
		requireConsistentCounts(
			readAccepted(ROWS, { contacts_accepted: text, dnd_skipped: json }, ONE_PHONE),
			ROWS.length,
		),
	'PushCampaignContacts/push/chunkSender.ts › rowsNamedIn': ({ text, json }) =>
		rowsNamedIn(rejectionOf([text, ...listOf(json).map(plain)]), ROWS),
	'PushCampaignContacts/push/chunkSender.ts › rejectionReason': ({ text }) =>
		rejectionReason(rejectionOf([text])),
	'PushCampaignContacts/push/pushRecord.ts › isPushRecord': ({ json }) => isPushRecord({ a: json }),
	'PushCampaignContacts/push/prepareRows.ts › toContact': ({ json }) =>
		toContact(
			objectOf(json),
			{
				phone: { name: 'phone' },
				personName: { name: 'name' },
				lastName: undefined,
				others: 'all',
				reserved: new Set(),
				notOfAll: new Set(),
			},
			'9876543210',
		),
	'PushCampaignContacts/push/response.ts › readAccepted': ({ text, json }) => {
		const list = Array.isArray(json) ? json : [objectOf(json), text];
		const rows = ROWS.slice(0, list.length);
		const response = { dnd_skipped: list, engine_skipped_duplicates: list };
		return JSON.stringify(readAccepted(rows, response, ONE_PHONE).skipped);
	},
	'PushCampaignContacts/file/csv.ts › CsvParser': [
		({ text }) => parseInPieces(text, 65_536),
		({ text }) => parseInPieces(text, 64),
		{ shapes: tables, read: ({ text }) => parseInPieces(text, 64) },
	],
	'PushCampaignContacts/file/fileRows.ts › FileRows': [
		async ({ text }) => await readFile(text),
		{ shapes: tables, read: async ({ text }) => await readFile(text) },
		{ shapes: tables, read: async ({ text }) => await readFile(text, 64) },
	],
	'shared/agents.ts › findAgents': [
		({ json }) => findAgents(json, new ApiMapping({})),
		({ json }) => {
			const mapping = { agentsPath: 'data', agentsIdPlace: 'field', agentsIdPath: 'agent_uuid' };
			return findAgents({ data: json }, new ApiMapping(mapping));
		},
	],
	'shared/api/endpoints.ts › injectContext': async ({ text, json }) => {
		const body = JSON.stringify({ data: { session_id: 's', context: [json, text].flat() } });
		const clock = { now: () => 0, elapsed: () => 0, sleep: async () => {} };
		const client = new ApiClient(
			async () => responseOf(body),
			clock,
			() => 0,
			TOKEN,
		);
		await injectContext(client, 's', { context: text });
	},
	'shared/api/endpoints.ts › withAdditions': ({ json }) => {
		const body = { additional_data: objectOf(json), ...objectOf(json) };
		return withAdditions({ ...REQUEST, body }, { body, query: { text: plain(json) } });
	},
	'shared/api/response.ts › parseResponse': [true, false].flatMap((isSecret) =>
		[hasAnyField('call_id'), hasAnyFieldWithin('state'), hasAnyValue].map(
			(successCheck) =>
				({ text }: Input) =>
					parseResponse(
						REQUEST,
						{ ...responseOf(text), status: 400 },
						{ successCheck, isSecret },
						0,
					),
		),
	),
	'shared/api/response.ts › findEffect': ({ json }) => {
		const request = { ...REQUEST, body: objectOf(json) };
		return findEffect(request, { status: 429, body: [json, json] }, ['call_id', 'context']);
	},
	'shared/api/http.ts › bytesOf': ({ json }) =>
		bytesOf(objectOf(json), { field: 'contacts', entries: Buffer.from('1') }),
	'shared/api/errorTable.ts › explainNotProcessed': ({ text }) =>
		explainNotProcessed(REQUEST, { ...responseOf(text), status: 429 }, 0),
	'shared/api/access.ts › isBelow': ({ text }) =>
		[text, `https://h.example/${text}`]
			.filter((url) => URL.canParse(url))
			.map((url) => isBelow(`https://h.example/${text}`, new URL(url))),
	'shared/api/access.ts › urlOf': ({ text }) =>
		urlOf(`https://h.example/${text}`, { path: '/v1/calls', link: `https://h.example/${text}` }),
	'shared/api/paging.ts › readWholeList': async ({ json }) => {
		const changing = { message: '', resolution: forEveryone('') };
		await readWholeList(changingList(json), changing).catch(() => undefined);
	},
	'shared/api/paging.ts › readPages': async ({ json }) =>
		await readPages(changingList(json), Infinity),
	'shared/api/retry.ts › retryAfterMs': ({ text }) => retryAfterMs(responseOf(text), 0),
	'shared/api/secrets.ts › withoutSecret': [
		({ text }) => withoutSecret(text, TOKEN),
		({ text }) => withoutSecret(`${text}!`, text),
		({ text }) => withoutSecret(text, text.slice(text.length / 2)),
		// Repeated texts that are almost an encoded token.
		...['%25%2', '&amp;', '\\\\x'].map((part) => ({
			shapes: [{ name: part, make: (size: number) => ({ text: part.repeat(size), json: '' }) }],
			read: ({ text }: Input) => {
				for (const token of ['tokentok00000000', '%%%%%25252525252', '&amp;&amp;&amp;&']) {
					withoutSecret(text, token);
				}
			},
		})),
	],
	'shared/apiMapping/index.ts › ApiMapping': [
		({ text }) => mappedBy(text).require(['callListPath', 'agentsPath', 'dndAddPhoneName']),
		({ json }) =>
			new ApiMapping({ [PROVIDER_SETTINGS]: json }).require(['callListPath', 'agentsPath']),
	],
	'shared/apiMapping/placeValues.ts › placeValues': ({ text }) =>
		placeValues([
			{ placement: 'body', name: text, value: text },
			{ placement: 'body', name: `a.${text}`, value: 1 },
			{ placement: 'query', name: text, value: text },
		]),
	'shared/apiMapping/placeValues.ts › queryOf': ({ json }) =>
		queryOf(listOf(json).map((name) => ({ name: plain(name), value: 1 }))),
	'shared/calls/callList.ts › entriesOf': ({ json }) =>
		entriesOf({ data: json }, new ApiMapping({ callListPath: 'data' })),
	'shared/calls/callList.ts › onlyListIn': ({ json }) => onlyListIn(json, new ApiMapping({})),
	'shared/calls/callFilters.ts › callListQuery': ({ text }) =>
		callListQuery(
			{ status: text, phone: text, from: text, to: text, campaignId: text },
			mappedBy('{from} to {to}'),
			'UTC',
		),
	'shared/calls/callEnd.ts › isWanted': ({ json }) =>
		isWanted({ status: json }, { status: ['a'], agent_uuid: ['a'], campaign_id: ['1'] }),
	'shared/campaign.ts › simplifyCampaign': ({ json }) => simplifyCampaign(viewCampaign(json)),
	'shared/chat/token.ts › socketUrl': ({ text }) =>
		[text, `wss://${text}`, `wss://h.example/${text}`].map((wsUrl) =>
			socketUrl({
				token: { token: wellFormed(text), ws_url: wsUrl, expires_at: 0 },
				baseUrl: 'https://h.example',
				clientId: 'client',
				claim: true,
			}),
		),
	'shared/chat/chatRequests.ts › chatValues': ({ text }) =>
		chatValues(mappedBy(text), [
			['chatAsyncSession', text],
			['chatAsyncMessage', text],
		]),
	'shared/chat/chatRequests.ts › createdSessionId': [
		({ text, json }) => createdSessionId(mappedBy(text), parsedResponse(json)),
		({ json }) => createdSessionId(new ApiMapping({}), parsedResponse(json)),
	],
	'shared/chat/reconnectPolicy.ts › describeEnding': ({ text }) =>
		describeEnding('mint_rejected', { kind: 'token', error: new Error(text) }, text),
	'shared/chat/eventDispatcher.ts › EventDispatcher': {
		shapes: [conversation],
		read: ({ json }) => {
			const dispatcher = new EventDispatcher('session', { debug() {}, info() {}, warn() {} });
			dispatcher.subscribe(() => {});
			for (const payload of listOf(json).map(objectOf)) {
				const eventId = plain(payload.id);
				dispatcher.deliver({ ...event('message_received', payload), eventId }, false);
			}
		},
	},
	'shared/chat/acks.ts › UnconfirmedFrames': {
		shapes: [conversation],
		read: ({ text, json }) => {
			const unconfirmed = new UnconfirmedFrames();
			const frame = outgoingFrame({ type: 'message', content: text });
			for (const payload of listOf(json).map(objectOf)) {
				unconfirmed.add(outgoingFrame({ type: 'message', content: `${text} again` }), 0);
				unconfirmed.match({ state: 'default', payload }, frame, 0);
			}
		},
	},
	'shared/calls/completionWebhook.ts › reportedField': ({ text, json }) => {
		const calls = readReport([{ call_id: text, status: text, data: json }, json]);
		if (Array.isArray(calls)) for (const call of calls) reportedField(call, 'status');
	},
	'shared/calls/callEnd.ts › isBehind': ({ text, json }) => {
		const report = { ...objectOf(json), call_picked_at: `${text}Z` };
		return isBehind({ ...objectOf(json), call_picked_at: text }, report);
	},
	'ChatSend/idempotency.ts › idempotencyKey': ({ text }) => {
		const form = formatOf({ idempotency: ['options', 'derived'], uniqueBy: ['string', text] });
		return idempotencyKey(form, { sessionId: text }, [text, text]);
	},
	'shared/n8n/once/requestRecord.ts › isRepeatable': ({ text }) =>
		isRepeatable({ unknown: { message: text, resolution: text }, key: text }, text),
	'shared/calls/callEnd.ts › outcomeKey': ({ json, text }) =>
		outcomeKey(text, { ...objectOf(json), call_picked_at: text }),
	'shared/calls/callEnd.ts › parseList': ({ text }) => parseList([text, text]),
	'shared/n8n/forms/fields.ts › Fields': [
		({ text }) => formatOf({ x: ['string', text] }).expression('x'),
		({ text }) => formatOf({ x: ['string', text] }).textOrList('x'),
		({ json }) => formatOf({ x: ['string', json] }).text('x'),
		({ json }) => formatOf({ x: ['string', json] }).scalars('x'),
		({ text }) => formatOf({ x: ['string', text] }).secret('x'),
		({ text }) => formatOf({ x: ['boolean', text] }).switch('x', false),
		({ text }) => formatOf({ x: ['number', text] }).number('x', 1),
		({ text }) => formatOf({ x: ['options', text] }).choice('x', ''),
		({ text }) => formatOf({ x: ['multiOptions', text] }).choices('x'),
		({ text }) => formatOf({ x: ['json', text] }).jsonObject('x'),
		({ json }) => formatOf({ x: ['json', json] }).json('x'),
		({ text }) => formatOf({ x: ['dateTime', text] }).time('x'),
	],
	'shared/n8n/forms/template.ts › unreadableIn': ({ text }) =>
		unreadableIn(`[object Object]${text}`, `=${text}`, (code) => code),
	'shared/n8n/triggers/webhookSecret.ts › checkSecret': ({ text }) =>
		checkSecret(text, () => `${text}!`),
	'shared/n8n/http/credential.ts › authorize': [
		({ text }) =>
			[`https://h.example/${text}`, text].map((url) =>
				authorize({ baseUrl: `https://h.example/${text}`, apiToken: TOKEN }, { url }),
			),
		({ text }) =>
			authorize(
				{ baseUrl: 'https://h.example', apiToken: TOKEN },
				{ url: text, baseURL: `https://h.example/${text}` },
			),
	],
	'shared/n8n/http/credential.ts › readServiceAccess': ({ text }) =>
		readServiceAccess({ baseUrl: `https://h.example/${text}`, apiToken: text }),
	'shared/n8n/run/nodeErrors.ts › toErrorItem': ({ text }) =>
		JSON.stringify(toErrorItem(rejectionOf([text]), { itemIndex: 0, of: 2 }).json),
	'shared/n8n/forms/outputFields.ts › sizedEach': ({ text, json }) =>
		sizedEach({ fields: [text] }, listOf(json).map(objectOf).slice(0, 2), (raw) => raw),
	'shared/n8n/forms/rowExpression.ts › rowReader': [
		({ text }) => rowReader(`={{ $json.a${text} }}`)?.({ a: text }),
		({ text }) => rowReader(`={{ $json["${text}"] }} ${text}`)?.({ a: text }),
	],
	'shared/text.ts › withoutEnd': ({ text }) => withoutEnd(text, /[\s.,/]/),
	'shared/text.ts › normalized': ({ text }) => [normalized(text, 'NFD'), normalized(text, 'NFKC')],
	'shared/api/parseIds.ts › parseWholeNumber': ({ text }) =>
		parseWholeNumber(text, 'Limit', forEveryone(text)),
	'shared/api/parseIds.ts › parseCount': ({ text }) => parseCount(text, 'Limit', forEveryone(text)),
	'shared/notRead.ts › whyNotRead': ({ text }) => whyNotRead(text, 'onScreen'),
	'shared/values.ts › named': ({ json }) => named(listOf(json), plain),
};

/**
 * Functions and classes that get text but don't read it: they store it, compare it as a whole, or pass it on. Or its
 * length is limited.
 */
export const notReaders = new Set([
	'CampaignCallsTrigger/listedCalls.ts › readList',
	// `storedState` is measured, which gets its result.
	'CampaignCallsTrigger/pollState.ts › restoreState',
	'shared/api/parseIds.ts › parseCampaignId',
	'CampaignProgressTrigger/campaignProgress.ts › currentState',
	'ChatSend/idempotency.ts › messageTarget',
	'GetCall/latestCalls.ts › requireAllStatuses',
	'PlaceCall/ask/answer.ts › askedBy',
	// `readCallForm` is measured, which calls these.
	'PlaceCall/fields/callSettings.ts › wholeNumber',
	'PlaceCall/fields/when.ts › readSchedule',
	'PlaceCall/callTime.ts › callTime',
	'PlaceCall/callTime.ts › requirePossibleTime',
	'PlaceCall/notPlaced.ts › NotPlaced',
	'PushCampaignContacts/push/outcome.ts › RowsNotPushed',
	'PushCampaignContacts/push/phones.ts › PhonesByRow',
	'PushCampaignContacts/push/pushRecord.ts › restoreChunk',
	'PushCampaignContacts/push/numbersPushedBefore.ts › NumbersPushedBefore',
	'shared/n8n/once/notes.ts › AttemptState',
	'shared/n8n/once/notes.ts › Notes',
	'PushCampaignContacts/push/rows.ts › describeRows',
	'PushCampaignContacts/push/numbersOfExecution.ts › NumbersOfExecution',
	'PushCampaignContacts/file/csvFile.ts › CsvFile',
	'PushCampaignContacts/file/encoding.ts › encodingOf',
	'PushCampaignContacts/file/encoding.ts › headOf',
	'PushCampaignContacts/file/encoding.ts › textOf',
	'PushCampaignContacts/file/encoding.ts › WrongEncoding',
	'shared/api/response.ts › outcomeUnknown',
	'shared/api/envelope.ts › recordOf',
	'shared/api/envelope.ts › dataOf',
	'shared/api/envelope.ts › hasAnyField',
	'shared/api/envelope.ts › hasAnyFieldWithin',
	'shared/api/errors.ts › ExplainedError',
	'shared/api/errors.ts › NotSent',
	'shared/api/errors.ts › OtherRecord',
	'shared/api/errors.ts › OutcomeUnknown',
	'shared/api/errors.ts › ServiceRejection',
	'shared/api/errors.ts › isRejection',
	'shared/api/errors.ts › quotingService',
	'shared/api/errorTable.ts › documentedError',
	'shared/api/errorTable.ts › explainRejection',
	'shared/api/errorTable.ts › notProcessed',
	'shared/clock.ts › duration',
	'shared/api/rejectionBody.ts › isErrorEnvelope',
	'shared/api/rejectionBody.ts › serviceText',
	// The API token has 16 characters.
	'shared/api/http.ts › TransportFault',
	'shared/apiMapping/field.ts › fieldsOf',
	'shared/apiMapping/placeValues.ts › withValue',
	// `Fields` is measured, which calls these.
	'shared/n8n/forms/fieldValue.ts › isEmpty',
	'shared/n8n/forms/fieldValue.ts › textIn',
	'shared/n8n/forms/fieldValue.ts › scalarIn',
	'shared/n8n/forms/fieldValue.ts › optionOf',
	'shared/n8n/forms/fieldValue.ts › fault',
	'shared/calls/callList.ts › callsKeepChanging',
	'shared/calls/callList.ts › linkedNext',
	'shared/calls/callList.ts › totalIn',
	// `readReport` is measured, which calls it.
	'shared/json.ts › innerOf',
	'shared/calls/callsPerPerson.ts › countedCalls',
	'shared/calls/callWatch.ts › CallWatch',
	'shared/chat/connection.ts › ChatConnection',
	'shared/chat/socket.ts › Socket',
	'shared/chat/sharedConnections.ts › ChatLease',
	'shared/chat/reconnectPolicy.ts › ChatEnded',
	'shared/chat/token.ts › readWsToken',
	'shared/clock.ts › inEnglish',
	'shared/clock.ts › settledOrTimeout',
	'shared/keyedMutex.ts › KeyedMutex',
	'shared/keyedMutex.ts › runExclusive',
	'shared/n8n/run/nodeErrors.ts › toNodeError',
	'shared/n8n/forms/outputFields.ts › outputFields',
	'shared/n8n/tools/textInTools.ts › shownOnlyAt',
	'shared/n8n/tools/toolDescription.ts › toolDescriptionField',
	'shared/n8n/triggers/webhookSecret.ts › readSecret',
	'shared/boundedMap.ts › BoundedMap',
	'shared/modelFormats.ts › givenAs',
	'shared/values.ts › problem',
	'shared/agents.ts › requireNames',
]);
