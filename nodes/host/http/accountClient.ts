import { fingerprint } from '../../core/values/hash';
import { type Account, ServiceProfile } from '../../core/profile/serviceProfile';
import { ApiClient } from '../../core/service/client';
import { withoutSecret } from '../../core/service/secrets';
import { anyOf, type Deadline } from '../../core/values/clock';
import { type CallSettings, CREDENTIAL, readCallSettings, readServiceAccess } from './credential';
import { clock } from '../clock';
import { createTransport, type ServiceContext, stopSignalOf } from './transport';

export type AccountClient = Account &
	CallSettings & {
		baseUrl: string;
		/** A fingerprint of the token, which identifies the account. */
		account: string;
		/** Hides the API token in a text that doesn't come through the client, such as a frame. */
		hideApiToken: (text: string) => string;
	};

/**
 * Reads the credential and creates the client of its account.
 *
 * @param deadline of a tool
 */
export async function createAccountClient(
	context: ServiceContext,
	deadline?: Deadline,
): Promise<AccountClient> {
	const data = await context.getCredentials(CREDENTIAL);
	const { baseUrl, apiToken } = readServiceAccess(data);
	const transport = createTransport(context, baseUrl, { ...data, baseUrl, apiToken }, deadline);
	const stop = anyOf(deadline?.signal, stopSignalOf(context));
	const hideApiToken = (text: string) => withoutSecret(text, apiToken);
	return {
		client: new ApiClient(transport, clock, apiToken, deadline?.at, stop),
		baseUrl,
		account: fingerprint(apiToken),
		profile: new ServiceProfile(data.serviceProfile ?? '', hideApiToken),
		hideApiToken,
		...readCallSettings(data),
	};
}
