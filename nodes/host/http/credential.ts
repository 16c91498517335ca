import {
	type ICredentialDataDecryptedObject,
	type IHttpRequestOptions,
	UserError,
} from 'n8n-workflow';
import { OBSERVED_OUTCOMES, statusKey, type StatusKeys } from '../../core/calls/callEnd';
import { isBelow, parseApiToken, parseBaseUrl } from '../../core/service/access';
import { explained } from '../../core/service/errors';
import { asText, parseList } from '../../core/values/values';

/** Type name of the credential. Saved workflows depend on it. */
export const CREDENTIAL = 'voiceChatAgentApiTokenApi';

/** What calls show, as the user entered it. */
export type CallSettings = {
	/** The key of the data point for `opted_out`. Empty if there is none. */
	optOutKey: string;
	/** *Finished Statuses*. */
	finished: StatusKeys;
};

/** Without *More Settings*. */
export const OPT_OUT_KEY = 'opt_out';
export const FINISHED_STATUSES = OBSERVED_OUTCOMES.join(', ');

export function readCallSettings({
	optOutKey = OPT_OUT_KEY,
	finishedStatuses = FINISHED_STATUSES,
}: ICredentialDataDecryptedObject): CallSettings {
	return {
		optOutKey: asText(optOutKey).trim(),
		finished: new Set(parseList(asText(finishedStatuses)).map(statusKey)),
	};
}

export type ServiceAccess = { baseUrl: string; apiToken: string };

/** @throws InvalidInput that names the field of the credential */
export function readServiceAccess(data: ICredentialDataDecryptedObject): ServiceAccess {
	return {
		baseUrl: parseBaseUrl(typeof data.baseUrl === 'string' ? data.baseUrl : ''),
		apiToken: parseApiToken(typeof data.apiToken === 'string' ? data.apiToken : ''),
	};
}

/** For both HTTP helpers of n8n. A redirect would send the token to another host. */
const NO_REDIRECTS = {
	disableFollowRedirect: true,
	followRedirect: false,
	followAllRedirects: false,
	maxRedirects: 0,
};

/**
 * Adds the API token to a request below the base URL, for the nodes of this package and the HTTP Request node.
 *
 * @throws UserError for any other URL, through a proxy of the request, or without a check of the certificate, so that only
 * the service gets the token
 */
export function authorize(
	data: ICredentialDataDecryptedObject,
	request: IHttpRequestOptions,
): IHttpRequestOptions {
	const { baseUrl, apiToken } = accessFor(data);
	const target = targetOf(request);
	if (target === null || !isBelow(baseUrl, target)) {
		throw notAuthorized(
			"The request wasn't sent, because its URL isn't below 'Base URL' in the credential",
			`This credential works only for URLs that begin with ${baseUrl}/. In n8n, correct the URL, or choose another credential.`,
		);
	}
	if (goesThroughOthers(request)) {
		throw notAuthorized(
			"The request wasn't sent, because others could read the API token on its way",
			"Remove the options 'Proxy' and 'Ignore SSL Issues'. A proxy of the whole n8n, which your n8n administrator sets up, can be used.",
		);
	}
	return { ...request, ...NO_REDIRECTS, headers: { ...request.headers, 'API-Token': apiToken } };
}

function accessFor(data: ICredentialDataDecryptedObject): ServiceAccess {
	try {
		return readServiceAccess(data);
	} catch (error) {
		const { message, resolution } = explained(error);
		throw notAuthorized(message, resolution);
	}
}

function notAuthorized(message: string, description: string): UserError {
	return new UserError(message, { description });
}

/** The options of both HTTP helpers of n8n for a proxy of the request, and for certificates that aren't checked. */
function goesThroughOthers(request: {
	proxy?: unknown;
	agentOptions?: { rejectUnauthorized?: unknown };
	skipSslCertificateValidation?: unknown;
	rejectUnauthorized?: unknown;
}): boolean {
	const { proxy, agentOptions, skipSslCertificateValidation, rejectUnauthorized } = request;
	const checks = [rejectUnauthorized, agentOptions?.rejectUnauthorized];
	return (
		![undefined, null, false, ''].some((none) => none === proxy) ||
		skipSslCertificateValidation === true ||
		checks.includes(false)
	);
}

/** n8n's older helper, which the HTTP Request node uses, has `uri`. Null unless it's a whole URL. */
function targetOf({ url, uri }: { url?: unknown; uri?: unknown }): URL | null {
	const target = textOf(url ?? uri);
	return URL.canParse(target) ? new URL(target) : null;
}

function textOf(url: unknown): string {
	return typeof url === 'string' || url instanceof URL ? String(url) : '';
}
