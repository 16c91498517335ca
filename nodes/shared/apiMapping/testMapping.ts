import { findAgents, requireNames } from '../agents';
import type { ApiClient } from '../api/client';
import { listDndNumbers } from '../api/endpoints';
import { asSentence, explained, OutcomeUnknown, ServiceRejection } from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
import { tryCallList } from '../calls/readCallList';
import { isJsonObject, type JsonValue, outlineOf } from '../json';
import type { ApiMapping } from './index';
import { queryOf } from './placeValues';
import {
	AGENTS_TOPIC,
	CALL_LIST_TOPIC,
	CHAT_PLACEMENT_TOPIC,
	CHAT_TOPIC,
	DND_TOPIC,
	type MappingName,
	type MappingTopic,
} from './topics';

/** What came of trying what the credential says, by requests that change nothing. */
export type MappingTestResult = {
	read: string[];
	/** With the reason why it was not tried. */
	untried: string[];
	/** What did not work, and what to do. */
	faults: string[];
};

/** `part` of it alone if the rest was read. */
type NotTried = { why: string; part?: string };

type MappingTest = {
	topic: MappingTopic;
	/** What is read, as a sentence says it. */
	what: string;
	/** Said to be wrong where the service rejects. */
	relatedFields: MappingName[];
	/** Reads it, or as far as it says. */
	read: () => Promise<NotTried | undefined>;
};

const ANY = 1;

/**
 * Tries each topic that the credential says something about. Where the document gives no read, nothing is tried: a
 * test sends no message and changes no list.
 *
 * @param agents what the service gave as its active agents; undefined where it gave none
 */
export async function testMapping(
	client: ApiClient,
	mapping: ApiMapping,
	agents: JsonValue | undefined,
): Promise<MappingTestResult> {
	const trial: MappingTestResult = { read: [], untried: [], faults: [] };
	for (const { topic, what, relatedFields: relatedFields, read } of testsOf(
		client,
		mapping,
		agents,
	)) {
		if (!mapping.isSetUp(topic)) continue;
		try {
			const notTried = await read();
			const { part } = notTried ?? {};
			if (notTried === undefined || part !== undefined) trial.read.push(what);
			if (notTried !== undefined) trial.untried.push(`${part ?? what} (${notTried.why})`);
		} catch (error) {
			const { message, resolution, originalMessage } = explained(error);
			const heard = originalMessage === undefined ? '' : ` (${originalMessage})`;
			const advice =
				error instanceof ServiceRejection ? mapping.advice(...relatedFields) : resolution;
			trial.faults.push(`When ${what} was read: ${asSentence(message + heard)} ${advice}`);
		}
	}
	return trial;
}

function testsOf(
	client: ApiClient,
	mapping: ApiMapping,
	agents: JsonValue | undefined,
): MappingTest[] {
	return [
		{
			topic: AGENTS_TOPIC,
			what: 'the list of agents',
			relatedFields: ['agentsPath'],
			read: async () => {
				if (agents === undefined) {
					return await Promise.resolve({ why: 'the service did not give it' });
				}
				requireNames(findAgents(agents, mapping), agents, mapping);
				return undefined;
			},
		},
		{
			topic: CALL_LIST_TOPIC,
			what: 'the call list',
			relatedFields: ['callListPageSizeName'],
			read: async () => {
				const isSized = mapping.optional('callListPageSizeName') !== undefined;
				const unclear = await tryCallList(client, isSized ? ANY : undefined, mapping);
				return unclear === undefined
					? undefined
					: { part: 'further pages of the call list', why: unclear };
			},
		},
		{
			topic: DND_TOPIC,
			what: 'a do-not-disturb list',
			relatedFields: ['dndListAgentName', 'dndListPerPageName'],
			read: async () => {
				const agentUuid = anyAgent(agents, mapping);
				if (agentUuid === undefined) {
					return { why: 'no active agent is known, whose list could be read' };
				}
				await readDndPage(client, mapping, agentUuid);
				return undefined;
			},
		},
		...[CHAT_TOPIC, CHAT_PLACEMENT_TOPIC].map((topic) => ({
			topic,
			what: topic === CHAT_TOPIC ? 'chat requests' : 'query parameters of chat requests',
			relatedFields: [],
			read: async () => await Promise.resolve({ why: 'a test sends no messages' }),
		})),
	];
}

function anyAgent(agents: JsonValue | undefined, mapping: ApiMapping): string | undefined {
	try {
		return agents === undefined ? undefined : findAgents(agents, mapping)[0]?.uuid;
	} catch (error) {
		// Told where the agents themselves are tried, if the credential says anything about them.
		explained(error);
		return undefined;
	}
}

async function readDndPage(
	client: ApiClient,
	mapping: ApiMapping,
	agentUuid: string,
): Promise<void> {
	const pageSizeName = mapping.optional('dndListPerPageName');
	const { body } = await listDndNumbers(
		client,
		queryOf([
			{ name: mapping.required('dndListAgentName'), value: agentUuid },
			...(pageSizeName === undefined ? [] : [{ name: pageSizeName, value: ANY }]),
		]),
	);
	if (isJsonObject(body) && Array.isArray(body.data)) return;
	throw new OutcomeUnknown(
		'The answer holds no list of numbers',
		onScreenOnly(
			`The service’s document has the list in data. The answer holds ${outlineOf(body)}.`,
		),
	);
}
