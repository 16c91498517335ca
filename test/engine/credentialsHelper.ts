import { Credentials } from 'n8n-core';
import {
	ICredentialsHelper,
	NodeHelpers,
	type ICredentialDataDecryptedObject,
	type ICredentialType,
	type IHttpRequestOptions,
	type INodeCredentialsDetails,
	type INodeParameters,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { z } from 'zod';
import { loader } from './sourceLoader';
import { isObject } from './isObject';

/** A stand-in for n8n's credentials helper, with n8n-core's real encryption. */
class TestCredentialsHelper extends ICredentialsHelper {
	private readonly stored = new Map<string, Credentials>();

	/** Number of reads, because a node reads its credential once per run. */
	reads = 0;

	async add(
		type: string,
		data: ICredentialDataDecryptedObject,
		id = `${type}-${this.stored.size + 1}`,
	): Promise<INodeCredentialsDetails> {
		const credentials = new Credentials({ id, name: id }, type);
		await credentials.setData(data);
		this.stored.set(id, credentials);
		return { id, name: id };
	}

	getParentTypes(name: string): string[] {
		return [this.type(name).extends ?? []].flat();
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	getCredentialsProperties(name: string): INodeProperties[] {
		return this.type(name).properties;
	}

	async getCredentials(details: INodeCredentialsDetails): Promise<Credentials> {
		const credentials = this.stored.get(details.id ?? '');
		if (credentials === undefined) throw new Error(`no credential ${String(details.id)}`);
		return await Promise.resolve(credentials);
	}

	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		details: INodeCredentialsDetails,
		type: string,
	): Promise<ICredentialDataDecryptedObject> {
		this.reads++;
		const data = await (await this.getCredentials(details)).getData();
		const properties = this.getCredentialsProperties(type);
		// As in n8n, nodes don't get fields that the form hides.
		const form = z.custom<INodeParameters>(isObject).parse(data);
		const shown = NodeHelpers.getNodeParameters(properties, form, true, false, null, null);
		return z.custom<ICredentialDataDecryptedObject>(isObject).parse(shown ?? {});
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.type(typeName);
		if (typeof authenticate !== 'function') throw new Error('not used by this package');
		return await authenticate.call(this.type(typeName), credentials, request);
	}

	async preAuthentication(): Promise<undefined> {}

	async runPreAuthentication(): Promise<undefined> {}

	async updateCredentials(): Promise<void> {}

	async updateCredentialsOauthTokenData(): Promise<void> {}

	private type(name: string): ICredentialType {
		return loader.getCredential(name).type;
	}
}

/** The credentials of a test file. */
export const storedCredentials = new TestCredentialsHelper();
