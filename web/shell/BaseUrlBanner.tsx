// Banner for a dashboard that is opened at another URL than SVC_BASE_URL.
import { useQuery } from "@tanstack/react-query";
import { verificationQuery } from "../queries/account.ts";
import { Icon } from "../ui/Icon.tsx";
import { isWrongBaseUrl } from "./base-url.ts";

export function BaseUrlBanner() {
  const { data } = useQuery(verificationQuery);
  if (!data || !isWrongBaseUrl(data.baseUrl, location.origin)) return null;
  const isInsecure = location.protocol === "https:" && data.baseUrl.startsWith("http:");
  return (
    <section className="banner" aria-label="Base URL">
      <Icon name="warning" />
      <p>
        <strong>Links in emails do not lead here.</strong> They start with{" "}
        <code className="break">{data.baseUrl}</code>
        {isInsecure && ", and the session cookie is not marked as secure"}. Set <code>SVC_BASE_URL</code> to{" "}
        <code className="break">{location.origin}</code> and restart Onlooker.
      </p>
    </section>
  );
}
