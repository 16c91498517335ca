import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { explained, NotSent, ServiceRejection } from '../../core/service/errors';
import { type Transport, VALIDATION_STATUSES } from '../../core/service/http';
import { ApiClient } from '../../core/service/client';
import { listActiveAgents } from '../../core/service/endpoints';
import { readProfile } from '../../core/profile/schema';
import { withoutSecret } from '../../core/service/secrets';
import { clock } from '../clock';
import { readServiceAccess, type ServiceAccess } from './credential';
import { toFault, toHttpResponse } from './transport';

const TEST_TIMEOUT_MS = 15_000;

/**
 * Tests the credential with a read of the active agents. A rejection of the request's parameters proves that the service
 * accepted the token. A "not found", a web page, or an unreadable response means that 'Base URL' is wrong.
 */
export async function voiceChatAgentApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	try {
		const access = readServiceAccess(data);
		const client = new ApiClient(transportFor(this, access), clock, access.apiToken);
		const failure = await listActiveAgents(client).then(() => null, toTestFailure);
		if (failure !== null) return failure;
		readProfile(data.serviceProfile ?? '', (text) => withoutSecret(text, access.apiToken));
		return { status: 'OK', message: 'The service accepts the API token' };
	} catch (error) {
		const { message, resolution } = explained(error);
		return testFailure(message, resolution);
	}
}

const CHECK_BASE_URL =
	"In n8n, set 'Base URL' to the URL of the service, without the path of a page or an endpoint, and without a version such as /v1. Ask your service provider for it. If it's right, check the network of your n8n instance, or test again later.";

/** What to do about a failed read. Null if the service accepted the token. */
function toTestFailure(error: unknown): INodeCredentialTestResult | null {
	const { message, resolution: resolution, originalMessage } = explained(error);
	if (error instanceof ServiceRejection && error.status !== 404) {
		const isOfToken = error.rejection.texts.some((text) => /^Invalid API token\b/i.test(text));
		const isAccepted = VALIDATION_STATUSES.has(error.status) && !isOfToken;
		return isAccepted ? null : testFailure(message, resolution, originalMessage);
	}
	// n8n itself blocked the request, or the credential is invalid.
	const isOfN8n = error instanceof NotSent && !error.isTransient;
	return testFailure(message, isOfN8n ? resolution : CHECK_BASE_URL, originalMessage);
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
				// A list repeats its name, as in all other requests.
				useQuerystring: true,
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
