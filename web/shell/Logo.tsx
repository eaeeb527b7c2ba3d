// The logo: an eye and the product name, linked to the start page.
import { Link } from "@tanstack/react-router";

export function Logo() {
  return (
    <Link to="/" className="logo">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <path d="M3 16c3.5-6 8-8.5 13-8.5S25.5 10 29 16c-3.5 6-8 8.5-13 8.5S6.5 22 3 16Z" />
        <circle cx="16" cy="16" r="4" />
      </svg>
      Onlooker
    </Link>
  );
}
