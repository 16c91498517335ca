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
} from '../../api/errors';
import { type Transport, VALIDATION_STATUSES } from '../../api/http';
import { ApiClient } from '../../api/client';
import { getActiveAgents } from '../../api/endpoints';
import { ApiMapping } from '../../apiMapping';
import { type MappingTestResult, testMapping } from '../../apiMapping/testMapping';
import { clock } from './accountClient';
import { readServiceAccess, type ServiceAccess } from './credential';
import { toFault, toHttpResponse } from './transport';

const TEST_TIMEOUT_MS = 15_000;
const ACCEPTED = 'The service accepts the API token';

/**
 * Tests the credential with a read of the active agents, then the API mapping with other reads. A rejection of the
 * request's parameters proves that the service accepted the token. A "not found", a web page, or an unreadable response
 * means that 'Base URL' is wrong.
 */
export async function voiceChatAgentApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	try {
		const access = readServiceAccess(data);
		const transport = transportFor(this, access);
		const client = new ApiClient(transport, clock, Math.random, access.apiToken);
		const mapping = new ApiMapping(data);
		const { agents, failure } = await getActiveAgents(client).then(
			({ body }) => ({ agents: body, failure: null }),
			(error: unknown) => ({ agents: undefined, failure: toTestFailure(error) }),
		);
		return failure ?? toTestResult(await testMapping(client, mapping, agents));
	} catch (error) {
		const { message, resolution } = explained(error);
		return testFailure(message, resolution);
	}
}

function toTestResult({ read, untested, failures }: MappingTestResult): INodeCredentialTestResult {
	if (failures.length > 0) {
		const message = [`${ACCEPTED}, but parts of the API mapping don't work.`, ...failures];
		return { status: 'Error', message: message.join(' ') };
	}
	const sentences = [
		ACCEPTED,
		...(read.length > 0 ? [`Tested with the API mapping: ${read.join(', ')}`] : []),
		...(untested.length > 0 ? [`Not tested: ${untested.join(', ')}`] : []),
	];
	return { status: 'OK', message: sentences.join('. ') };
}

/** What to do about a failed read. Null if the service accepted the token. */
function toTestFailure(error: unknown): INodeCredentialTestResult | null {
	const { message, resolution, originalMessage } = explained(error);
	const withAdvice = (advice: string) => testFailure(message, advice, originalMessage);
	const setBaseUrl =
		"Set 'Base URL' to the URL of the service, without the path of a page or an endpoint, and without a version such as /v1. Ask your service provider for it.";
	if (error instanceof NotSent && error.isTransient) {
		return withAdvice("Check 'Base URL' and the network of your n8n instance.");
	}
	if (error instanceof OutcomeUnknown) {
		const mayRecover = (error.status ?? 0) >= 500 || error.origin === 'network';
		return withAdvice(
			mayRecover ? "Test again later. If this doesn't help, check 'Base URL'." : setBaseUrl,
		);
	}
	if (!(error instanceof ServiceRejection)) return withAdvice(resolution);
	const { status, rejection } = error;
	if (status === 404) {
		return testFailure("The service wasn't found at 'Base URL'", setBaseUrl, originalMessage);
	}
	const isOwn = VALIDATION_STATUSES.has(status) && rejection.body.success === false;
	const isAccepted = isOwn && !isRejection(error, 'invalid_api_token');
	return isAccepted ? null : withAdvice(resolution);
}

function testFailure(
	message: string,
	resolution: string,
	originalMessage = '',
): INodeCredentialTestResult {
	const details = originalMessage === '' ? '' : ` (${originalMessage})`;
	return { status: 'Error', message: `${message}. ${resolution}${details}` };
}

function transportFor(
	{ helpers }: ICredentialTestFunctions,
	{ baseUrl, apiToken }: ServiceAccess,
): Transport {
	// A credential test only has n8n's older HTTP helper, with these options.
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
			return toHttpResponse(response);
		} catch (error) {
			throw toFault(error);
		}
	};
}
