import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import {
	explained,
	isRejection,
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
	TOO_MANY_REQUESTS,
} from '../../api/errors';
import type { Transport } from '../../api/http';
import { getActiveAgents } from '../../api/endpoints';
import { ApiClient } from '../../api/client';
import { ApiMapping } from '../../apiMapping';
import { type MappingTestResult, testMapping } from '../../apiMapping/testMapping';
import { clock } from './accountClient';
import { readServiceAccess, type ServiceAccess } from './credential';
import { toFault, toWireAnswer } from './transport';

const TEST_TIMEOUT_MS = 15_000;
const ACCEPTED = 'The service accepts the API token';

/**
 * The credential's test. A rejection in the service's own form means that the token was accepted; a
 * path that is not there, a page or an unreadable answer means that Base URL is not the service's. Then what the
 * credential says under API mapping is tried, as far as a read can.
 */
export async function voiceChatAgentApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	try {
		const access = readServiceAccess(data);
		const transport = transportFor(this, access);
		const client = new ApiClient(transport, clock, Math.random, access.apiToken);
		const { agents, failure } = await getActiveAgents(client).then(
			({ body }) => ({ agents: body, failure: null }),
			(error: unknown) => ({ agents: undefined, failure: judgeError(error, access.baseUrl) }),
		);
		return failure ?? judgeTrial(await testMapping(client, new ApiMapping(data), agents));
	} catch (error) {
		const { message, resolution } = explained(error);
		return testFailure(message, resolution);
	}
}

function judgeTrial({ read, untried, faults }: MappingTestResult): INodeCredentialTestResult {
	if (faults.length > 0) {
		const what = `${ACCEPTED}, but not all of the API mapping works`;
		return { status: 'Error', message: [`${what}.`, ...faults].join(' ') };
	}
	const sentences = [
		ACCEPTED,
		...(read.length > 0 ? [`Read as the API mapping says: ${read.join(', ')}`] : []),
		...(untried.length > 0 ? [`Not tested: ${untried.join(', ')}`] : []),
	];
	return { status: 'OK', message: sentences.join('. ') };
}

/** Null where the service knows the token, whatever else it said. */
function judgeError(error: unknown, baseUrl: string): INodeCredentialTestResult | null {
	if (error instanceof ServiceRejection) return judgeRejection(error, baseUrl);
	if (error instanceof NotSent && error.isTransient) {
		return testFailure(
			error.message,
			'Check Base URL and the network of your n8n.',
			error.originalMessage,
		);
	}
	if (error instanceof OutcomeUnknown) {
		const { message, status = 0, originalMessage } = error;
		const isInTrouble = status >= 500 || error.origin === 'network';
		const resolution = isInTrouble
			? 'Test again later. If it stays so, check Base URL.'
			: whereTheServiceIs(baseUrl);
		return testFailure(message, resolution, originalMessage);
	}
	throw error;
}

function judgeRejection(
	error: ServiceRejection,
	baseUrl: string,
): INodeCredentialTestResult | null {
	const { message, resolution, originalMessage, status, rejection } = error;
	if (isRejection(error, 'invalid_api_token')) {
		return testFailure(
			message,
			'Paste the 16-character API token from the settings of your dashboard, and check that Base URL belongs to the same account.',
			originalMessage,
		);
	}
	if (status === 401) {
		return testFailure(
			message,
			'Check API Token and Base URL. If both are right, a proxy before the service wants a sign-in of its own.',
			originalMessage,
		);
	}
	if (status >= 300 && status < 400) {
		return testFailure(
			message,
			'Set Base URL to the final address of the service.',
			originalMessage,
		);
	}
	if (status === 404) {
		return testFailure(
			'The service is not found at this Base URL',
			whereTheServiceIs(baseUrl),
			originalMessage,
		);
	}
	const isAnswer = rejection.body.success === false && status !== TOO_MANY_REQUESTS;
	return isAnswer ? null : testFailure(message, resolution, originalMessage);
}

function whereTheServiceIs(baseUrl: string): string {
	const version = /\/v\d+$/i.exec(baseUrl)?.[0];
	if (version !== undefined) {
		return `Remove ${version} from the end of Base URL: the nodes add it by themselves.`;
	}
	return 'Set Base URL to the address of the service itself, without a page or a path of an endpoint; whoever provides your service knows it.';
}

function testFailure(
	what: string,
	resolution: string,
	originalMessage?: string,
): INodeCredentialTestResult {
	const heard =
		originalMessage === undefined || originalMessage === '' ? '' : ` (${originalMessage})`;
	return { status: 'Error', message: `${what}. ${resolution}${heard}` };
}

function transportFor(
	{ helpers }: ICredentialTestFunctions,
	{ baseUrl, apiToken }: ServiceAccess,
): Transport {
	// The only HTTP helper that n8n offers to a credential's test takes these older options.
	return async ({ method, path, query = {} }) => {
		try {
			const response: unknown = await helpers.request({
				method,
				uri: `${baseUrl}${path}`,
				qs: query,
				headers: { 'API-Token': apiToken, Accept: 'application/json' },
				simple: false,
				resolveWithFullResponse: true,
				followRedirect: false,
				followAllRedirects: false,
				timeout: TEST_TIMEOUT_MS,
			});
			return toWireAnswer(response);
		} catch (error) {
			throw toFault(error);
		}
	};
}
