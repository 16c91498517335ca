import { findAgents } from '../agents';
import type { ApiClient } from '../service/client';
import { listDndNumbers } from '../service/endpoints';
import { asSentence, explained, ServiceRejection } from '../service/errors';
import { entriesInData } from '../service/paging';
import type { JsonValue } from '../values/json';
import type { ApiMapping } from '../profile/apiMapping';
import { queryOf } from '../profile/placeValues';
import { AGENTS_TOPIC } from '../profile/agents';
import { CALL_LIST_TOPIC } from '../profile/callList';
import { CHAT_PLACEMENT_TOPIC, CHAT_TOPIC } from '../profile/chat';
import { DND_TOPIC } from '../profile/dnd';
import type { MappingTopic } from '../profile/field';
import { testCallList } from './testCallList';
import type { MappingName } from '../profile/topics';

/** The result of testing the API mapping with requests that change nothing. */
export type MappingTestResult = {
	read: string[];
	/** Each with a reason in parentheses. */
	untested: string[];
	/** What failed, and what to do. */
	failures: string[];
};

/** Why something wasn't tested. `subject` if the rest was. */
type NotTested = { reason: string; subject?: string };

type MappingTest = {
	topic: MappingTopic;
	/** For messages, if not that of the topic. */
	subject?: string;
	/** The fields to check if the service rejects the request. */
	relatedFields: MappingName[];
	run: () => NotTested | undefined | Promise<NotTested | undefined>;
};

const ONE_ENTRY = 1;

/**
 * Tests each topic that the credential sets up, if the document has a read for it. Sends no message and changes no
 * list.
 *
 * @param agents the response of `GET /v1/active_agents`. Undefined if the service didn't return it.
 */
export async function testMapping(
	client: ApiClient,
	mapping: ApiMapping,
	agents: JsonValue | undefined,
): Promise<MappingTestResult> {
	const result: MappingTestResult = { read: [], untested: [], failures: [] };
	for (const { topic, subject = topic.subject, relatedFields, run } of testsOf(
		client,
		mapping,
		agents,
	)) {
		if (!mapping.isSetUp(topic)) {
			if (mapping.isShown(topic)) result.untested.push(`${subject} (its fields are empty)`);
			continue;
		}
		try {
			const notTested = await run();
			if (notTested === undefined || notTested.subject !== undefined) result.read.push(subject);
			if (notTested !== undefined) {
				result.untested.push(`${notTested.subject ?? subject} (${notTested.reason})`);
			}
		} catch (error) {
			const { message, resolution, originalMessage } = explained(error);
			const details = originalMessage === undefined ? '' : ` (${originalMessage})`;
			const next =
				error instanceof ServiceRejection ? mapping.resolution(...relatedFields) : resolution;
			result.failures.push(`Reading ${subject} failed: ${asSentence(message + details)} ${next}`);
		}
	}
	return result;
}

function testsOf(
	client: ApiClient,
	mapping: ApiMapping,
	agents: JsonValue | undefined,
): MappingTest[] {
	const sendsNoMessages = () => ({ reason: 'a test sends no messages' });
	return [
		{
			topic: AGENTS_TOPIC,
			relatedFields: ['agentsPath'],
			run: () => {
				if (agents === undefined) return { reason: "the service didn't return it" };
				findAgents(agents, mapping);
				return undefined;
			},
		},
		{
			topic: CALL_LIST_TOPIC,
			relatedFields: ['callListPageSizeName'],
			run: async () => {
				const reason = await testCallList(client, mapping);
				return reason === undefined
					? undefined
					: { subject: 'further pages of the call list', reason };
			},
		},
		{
			topic: DND_TOPIC,
			subject: 'a do-not-disturb list',
			relatedFields: ['dndListAgentName', 'dndListPerPageName'],
			run: async () => {
				const agentUuid = anyAgent(agents, mapping);
				if (agentUuid === undefined) return { reason: 'no active agent was found' };
				await readDndPage(client, mapping, agentUuid);
				return undefined;
			},
		},
		{ topic: CHAT_TOPIC, relatedFields: [], run: sendsNoMessages },
		{ topic: CHAT_PLACEMENT_TOPIC, relatedFields: [], run: sendsNoMessages },
	];
}

function anyAgent(agents: JsonValue | undefined, mapping: ApiMapping): string | undefined {
	try {
		return agents === undefined ? undefined : findAgents(agents, mapping)[0]?.uuid;
	} catch (error) {
		// The test of the agents reports this if the credential sets them up.
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
			...(pageSizeName === undefined ? [] : [{ name: pageSizeName, value: ONE_ENTRY }]),
		]),
	);
	entriesInData(body);
}
