import { dialects, type Dialect } from '.';
import { newSession } from './chat/lifecycle';
import type { Agent } from './state/types';

const agent: Agent = {
	agentUuid: 'agent_x',
	name: 'X',
	accountId: 1,
	active: true,
	number: '+918045671234',
	postCallAnalysis: true,
};
const entry = { id: 1, agentUuid: 'agent_x', phone: '+919876543210', reason: 'r', createdAt: 't' };
const page = { items: [{ call_id: '1' }], total: 1, size: 10, start: 0, next: null, link: null };
const reply = { sessionId: 's', turnId: 't', messageId: 'm', reply: 'Hello', state: 'default' };

/** Each detail that the document doesn't define, in its order, and the dialect's choice. */
function apiMapping(dialect: Dialect): Record<string, unknown> {
	const { agents, calls, campaigns, dnd, webhook, chat, socket, general } = dialect;
	const session = newSession(agent, dialect, 0, 's');
	return {
		'agent record fields': agents.record(agent),
		'call status values': calls.unusual.status,
		'call_type values': calls.unusual.callType,
		'channel values': calls.unusual.channel,
		'call_ended_by values': calls.unusual.endedBy,
		'call_ended_reason values': calls.unusual.endedReason,
		'transcript roles': calls.customerRole,
		'retry_delay and its unit': campaigns.retryDelay,
		'call window and calling days': campaigns.extraFields,
		'campaign transitions': campaigns.lifecycle,
		'call status transitions': calls.inFlight,
		'open state of a session': chat.openState,
		'call list filters': calls.filters,
		'call list paging': calls.paging,
		'call list shape': calls.listBody(page),
		'active agents request': agents.filter,
		'active agents shape': agents.body([]),
		'dnd_skipped objects': campaigns.dndSkipped('+919876543210', 0),
		'warnings items': campaigns.warning('Draft'),
		'dnd add request': dnd.add,
		'dnd add response': dnd.addBody(entry, { id: 1 }),
		'dnd list parameters': dnd.list,
		'dnd remove placement': dnd.remove,
		'chat create request': chat.create,
		'chat create response': chat.createBody({ session_id: 's', status: 'x' }),
		'inbound request': chat.inbound,
		'inbound response shape': chat.inboundBody({ state: 'default' }),
		'async request': chat.async,
		'async response': chat.asyncBody({ turnId: 't', messageId: 'm', replay: false }),
		'support commands': chat.commands,
		'support response': chat.supportBody('close', session),
		'interactive message': chat.interactive('i', 'Choose', ['a']),
		'other credentials and streams': general.otherCredential,
		'completion webhook headers': webhook.headers('{}'),
		'completion webhook payload': webhook.body('1', { call_id: '1' }),
		'completion webhook retries': webhook.attempts,
		'completion webhook expected response': [204, 302, 404, 500].map((s) => webhook.received(s)),
		'chat delivery payload': chat.deliveryBody(reply),
		'chat delivery configuration': chat.deliveryUrl,
		'session_reactivated reason': chat.reactivatedReason,
		'auto_resume_fired reason': chat.autoResumeReason,
		...Object.fromEntries(
			Object.entries(dialect.statuses).map(([name, status]) => [`status of ${name}`, status]),
		),
		'further error codes': [chat.unknownSession, chat.closedText, general.unknownPath],
		'rate limits': general.rateLimit,
		'maximum message': general.maxMessage,
		'maximum context': general.maxContext,
		'maximum body': general.maxBodyBytes,
		'dnd default page size': dnd.defaultPerPage,
		'version header': general.versionHeader,
		'legacy removal': general.legacyHeaders,
		'event types beyond those named': socket.unusualEvent,
		'close codes beyond those named': socket.unusualCloseCode,
	};
}

/** Ambiguous statements of the document, and the dialect's reading. */
function sides({
	calls,
	campaigns,
	validation,
	chat,
	socket,
	dnd,
}: Dialect): Record<string, unknown> {
	return {
		'text of a reply outside the ack': socket.replyText,
		'turn that a merged result names': socket.mergedResult,
		'message_id in the ack': chat.echoesMessageId,
		'an open socket ends with its token': socket.socketEndsWithToken,
		'inject_context on an unknown session': chat.unknownSession,
		'+91 and the rule for mobiles': campaigns.plus91NeedsMobile,
		'leading trunk zero': calls.trunkZeroAccepted,
		'country code in lower case': calls.lowerCaseCountryAccepted,
		'error or errors': Object.keys(validation.body(['x'])),
		'status of a validation': validation.status,
		'a number on the DND list': calls.numberOnDnd,
		'extra keys of duplicates': campaigns.duplicates,
		'the index of the first contact': campaigns.firstContactIndex,
		'form of engine_skipped_duplicates': campaigns.engineSkipped('+919876543210', '9876543210'),
		'a list that was not released': campaigns.emptyQueueShown,
		'what a character is': ['👋', 'é'].map((text) => calls.textLength(text)),
		'a schedule in the past': calls.pastSchedule,
		'a scheduled call in the call list': calls.listsScheduled,
		contacts_accepted: campaigns.acceptedCountsDndSkipped,
		'close code of a take-over': socket.takeOverCode,
		'same client twice': socket.sameClientTwice,
		'page size over the cap': dnd.overCap,
		'field without a value': calls.missing,
	};
}

const all = Object.values(dialects);
const distinct = (read: (dialect: Dialect) => unknown) =>
	new Set(all.map((dialect) => JSON.stringify([read(dialect)]))).size;

describe('dialects', () => {
	it.each(Object.keys(apiMapping(dialects.plain)))('all differ in: %s', (name) => {
		expect(distinct((dialect) => apiMapping(dialect)[name])).toBe(all.length);
	});

	it.each(Object.keys(sides(dialects.plain)))('read differently: %s', (name) => {
		expect(distinct((dialect) => sides(dialect)[name])).toBeGreaterThan(1);
	});

	it('have different names', () => {
		expect(Object.entries(dialects).every(([name, dialect]) => dialect.name === name)).toBe(true);
	});
});
